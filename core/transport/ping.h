// Pings: messages of kind kPing, answered at once by the other end. They open connections' windows
// (prime.h) and measure links (link_probe.h).
//
//   kPing: Tuple{bytes wanted, Tensor}                             ──▶
//   kPong: Tuple{receive_cpu, send_cpu, Tensor of that many bytes} ◀──
//
// Times in an answer are int nanoseconds of processor time on the side that answers: for the ping,
// and for sending the answer before this one. A ping with any other body is answered without one.
#pragma once

#include <cstdint>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/tensor/tensor.h"
#include "core/tensor/value.h"
#include "core/transport/transport.h"

namespace pareto::transport {

inline constexpr std::uint64_t kLargestPingBytes = 64 << 20;

/// The way that a ping's bytes go; the other way goes a small message.
enum class PingWay {
  kThere,  ///< the way to the side that answers
  kBack,
};

/// Makes the body of a ping that sends `bytes` bytes that way. Fails: kExhausted.
Expected<Value> ping_body(std::uint64_t bytes, PingWay way);

/// Sends a message of kind kPing and waits for its answer: how long both took. Fails: as links do;
/// kCorrupt where something else than the pong comes back.
Expected<Nanoseconds> ping(Link& link, const wire::Message& message, Deadline deadline);

/// The processor times that an answer states.
struct PingAnswer {
  Nanoseconds receive_cpu{};
  Nanoseconds send_cpu{};  ///< processor time of sending the answer before
};
/// Reads the processor times that a pong states. Fails: kCorrupt (it is not the answer to a
/// ping_body() of that request).
Expected<PingAnswer> read_pong(const wire::Message& message, std::uint64_t request);

/// Answers the pings of one link. Threads: one owner.
class PingAnswers {
 public:
  /// Sends the pong that a ping asks for. Fails: kCorrupt (more bytes wanted than
  /// kLargestPingBytes, or less than none), and as links do.
  Expected<> answer(Link& link, Received ping, Deadline deadline = std::nullopt);

 private:
  Nanoseconds last_send_cpu_{};
  Tensor bytes_;  ///< bytes of the last answer: mostly the next one's too
};

/// Returns the bytes that no codec makes fewer. Fails: kExhausted.
Expected<Tensor> incompressible(std::uint64_t bytes);

}  // namespace pareto::transport
