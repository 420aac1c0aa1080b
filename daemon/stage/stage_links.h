// The two links of a stage: what comes, what leaves, and what is answered on the way.
//
//   upstream ══receive──▶ requests, whole                items ──SendTurn══▶ downstream
//            ◀══pongs── pings                            pings ──pongs══▶
//
// A ping is answered where it comes in, padding is dropped, and a request that came in parts is put
// together again. Who uses a stage's links sees requests and the end, or why a link ended.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/control/hello.h"
#include "core/transport/ping.h"
#include "core/transport/prime.h"
#include "core/transport/transport.h"
#include "core/wire/parts.h"
#include "daemon/stage/send_turn.h"
#include "daemon/stage/stage_context.h"

namespace pareto::daemon {

/// A message from upstream: a request whose parts are together, its error, or the end.
struct Arrival {
  transport::Received received;
  Nanoseconds waited{};  ///< until the first byte of its last frame
};

/// The links of one stage. Each is set once, by the constructor or by attach(), before a thread
/// uses it. None is destroyed before this is. Bytes and times are counted into the stage's meter.
///
/// Threads: receive() from one, answer_pings() from one; one at a time has a SendTurn; prime() and
/// keep_warm() while no other thread sends downstream; everything else from any.
class StageLinks {
 public:
  /// `downstream` has said hello to the next stage; null means that a sink will connect. `inputs`
  /// is how many values a request has. Without `payload_checksum`, links that connect are sent to
  /// without one. `context` outlives this.
  StageLinks(const StageContext& context, std::unique_ptr<transport::Link> downstream,
             std::size_t inputs, bool payload_checksum);

  /// Returns whether the results go to a sink that connects, not to a next stage.
  bool sink_connects() const { return sink_connects_; }
  /// Takes a link whose peer has said that hello, and answers it kReady. Fails: kInvalidArgument
  /// (there is one already, or the role does not fit), kClosed (close() was called), with the link
  /// left to the caller; and as links do, with the link taken.
  Expected<> attach(const control::Hello& hello, std::unique_ptr<transport::Link>& link,
                    Deadline deadline);
  /// Warms the link to the next stage for messages of `output_bytes`, and measures it. All figures
  /// are 0 if a sink connects. Fails: as transport::prime does.
  Expected<transport::LinkFigures> prime(std::uint64_t output_bytes, TimePoint deadline);
  /// Keeps that link warm from now on (core/transport/live_link.h). Before other threads use it.
  void keep_warm(const transport::LinkFigures& figures, std::uint64_t output_bytes);
  /// Returns how large a message may be that finds the downstream link warm, in bytes.
  std::uint64_t warm_for() const;

  /// Sets how many values a request has from now on.
  void expect_inputs(std::size_t count) { inputs_ = count; }
  /// Waits for a request or the end. Fails, with a sentence that names the link: as links do;
  /// kCorrupt (a message that does not belong on it; a request that came before, or before its
  /// turn, if the peer promised that its requests are in order).
  Expected<Arrival> receive();
  /// Answers pings from downstream until that link ends. Returns why it ended: as links fail, or
  /// kCorrupt (a message that does not belong on it).
  Error answer_pings();

  /// Waits until nobody else sends downstream.
  SendTurn send_turn();
  /// Returns a turn if nobody sends downstream now.
  std::optional<SendTurn> try_send_turn();

  /// Returns who is at the other ends of the links that there are.
  std::vector<transport::PeerIdentity> peers() const;

  /// Closes the upstream link, and wakes receive().
  void close_upstream();
  /// Closes both links, and wakes all who wait for one; from now on none is taken.
  void close();

 private:
  /// Returns whether what came completes a request, or is the end.
  Expected<bool> take(transport::Received& received);
  Expected<bool> take_request(transport::Received& received);
  /// Checks that a request is the next one, or begins a load. Fails: kCorrupt.
  Expected<> check_turn(std::uint64_t request) const;
  /// Returns the error of a link, and counts the link as lost.
  Error lost(const char* name, const transport::Link& link, const Error& error);
  SendTurn turn_with(std::unique_lock<std::timed_mutex> lock);

  const StageContext& context_;
  const bool sink_connects_;
  const bool payload_checksum_;

  mutable std::mutex mutex_;
  bool closed_ = false;
  std::uint64_t warm_for_ = UINT64_MAX;
  // Set under mutex_, before the threads that use them start; closed by any thread.
  std::unique_ptr<transport::Link> upstream_;
  std::unique_ptr<transport::Link> downstream_;

  std::timed_mutex send_mutex_;  ///< held while results or pongs are sent downstream
  SenderState sender_;

  std::atomic<std::size_t> inputs_;
  bool in_order_ = false;  ///< upstream has promised; set by attach()
  // Used only by the thread that receives:
  std::optional<std::uint64_t> due_;  ///< number of the next request; no value: any
  transport::PingAnswers upstream_answers_;
  wire::PartAssembler assembler_;
  transport::Received parts_received_;  ///< times of the parts in it
};

}  // namespace pareto::daemon
