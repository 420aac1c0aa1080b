// Message: what travels on a link, in memory. core/wire/FORMAT.md specifies its bytes on a wire.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/clock.h"
#include "core/tensor/value.h"

namespace pareto::wire {

enum class MessageKind : std::uint8_t {
  /// First on every link, from the side that connected: who it is (body: see daemon/stage and
  /// coordinator/cluster).
  kHello = 1,
  kReady = 2,   ///< the answer to kHello
  kValues = 3,  ///< a request's values: body is a Tuple in the order of the boundary
  /// The request failed: body is Tuple(code, message); travels downstream to the sink like values.
  kError = 4,
  /// Answered at once with kPong (core/transport/ping.h); primes the connection and measures it.
  kPing = 5,
  kPong = 6,
  kEnd = 7,   ///< no more requests will follow on this link
  kPart = 8,  ///< one value of a request, ahead of its kValues: core/wire/parts.h
  // Between stages that train (core/control/training_message.h):
  kTrain = 9,      ///< a micro-batch on its way forward, its target, or its loss
  kGradient = 10,  ///< its gradients on their way back
  kStep = 11,      ///< lets the optimisers step
};

/// The work of one stage on one request, on that stage's own clocks. Processor times are those of
/// the one thread that each phase runs on: threads that an engine starts are not counted. The
/// sending of a message cannot be in it, so encode and send are those of the message before on the
/// link.
struct StageTimes {
  std::uint32_t stage = 0;  ///< 0 = first
  /// The stage's monotonic clock when the first byte was read. Of a request in parts: as if they
  /// had come without a gap between them.
  Nanoseconds arrived{};
  Nanoseconds receive{};  ///< time from the first byte of the frame to the last, without `decode`
  Nanoseconds decode{};   ///< time in codecs; 0 if all tensors travelled as they are
  Nanoseconds queue{};    ///< waiting for the compute thread
  Nanoseconds compute{};  ///< running the shard
  Nanoseconds encode{};   ///< time from the shard's outputs to a frame, of the message before
  Nanoseconds send{};     ///< the send call, of the message before
  Nanoseconds receive_cpu{};  ///< processor time in `receive` and `decode`
  Nanoseconds compute_cpu{};  ///< processor time in `compute`
  Nanoseconds send_cpu{};     ///< processor time in `encode` and `send`, of the message before
  bool operator==(const StageTimes&) const = default;
};

/// One entry a stage, in the order passed.
using Timeline = std::vector<StageTimes>;

struct MessagePool;

/// A value: copied and moved.
struct Message {
  Message() = default;
  Message(const Message&) = default;
  Message(Message&&) noexcept = default;
  Message& operator=(const Message& other) { return *this = Message(other); }
  Message& operator=(Message&& other) noexcept;
  ~Message();

  MessageKind kind = MessageKind::kValues;
  std::uint64_t pipeline = 0;  ///< pipeline of the coordinator
  std::uint64_t request = 0;   ///< counts up from 0 at the source
  std::uint32_t sequence = 0;  ///< part of the request, if it travels in several
  /// Time after which the request's result is of no use, from when the message is sent. 0: never.
  /// Clocks of devices differ, so each stage takes off what the request spent there.
  Nanoseconds time_left{};
  std::int8_t priority = 0;  ///< more is sooner, where a device computes by priority
  Timeline timeline;
  Value body;
  /// Pool that gets the memory of timeline and body when the message ends
  /// (core/wire/message_pool.h). The receiver of the message sets it. Null means that the memory is
  /// freed.
  std::shared_ptr<MessagePool> pool;
};

}  // namespace pareto::wire
