// The right to send on a stage's downstream link.
//
// Two threads may send there: the one that computed a result, and the sending thread. Answers to
// pings leave there too. One at a time has the turn, and with it what sending left behind.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/transport.h"
#include "daemon/stage/stage_context.h"
#include "daemon/stage/stage_item.h"

namespace pareto::daemon {

/// State that sending leaves behind for the next sender. Only a SendTurn reads or changes it.
struct SenderState {
  /// A request that is lost, because the link refused a part of it.
  struct Refused {
    std::uint64_t request = 0;
    Error error;
  };

  /// Times of sending the last request. A message cannot carry what its own sending takes: the next
  /// one does.
  transport::Sent last;
  transport::Sent parts;  ///< times of the request's parts whose values are to come
  std::optional<Refused> refused;
};

/// One sender's turn, given back when it is destroyed.
///
/// Threads: one.
class SendTurn {
 public:
  /// `lock` holds the mutex of all who send on `downstream`. All outlive the turn.
  SendTurn(std::unique_lock<std::timed_mutex> lock, transport::Link& downstream, SenderState& state,
           const StageContext& context)
      : lock_(std::move(lock)), downstream_(&downstream), state_(&state), context_(&context) {}

  /// Returns whether sending takes so little, by the last request, that a thread that computed for
  /// `compute` had better send itself than wake another one.
  bool is_cheap_after(Nanoseconds compute) const;
  /// Sends an item, with this stage's times if it holds values, and counts it. A result over the
  /// link's limits leaves as an error, and the item then holds that error. Fails: as links do; the
  /// link is of no use then.
  Expected<> send(StageItem& item);

 private:
  /// Makes an error of values whose request is lost; returns false if nothing is to be sent of it.
  bool prepare(wire::Message& message);
  void count(wire::MessageKind kind, const transport::Sent& sent);

  std::unique_lock<std::timed_mutex> lock_;
  // Pointers, so that a turn can be handed on.
  transport::Link* downstream_;
  SenderState* state_;
  const StageContext* context_;
};

}  // namespace pareto::daemon
