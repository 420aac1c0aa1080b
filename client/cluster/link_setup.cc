#include "client/cluster/link_setup.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/plan/protocol.h"
#include "core/wire/message.h"

namespace pareto::client {
namespace {

using wire::Message;
using wire::MessageKind;

constexpr int kSmallPings = 8;
constexpr int kLargePings = 3;
// A boundary larger than this opens the congestion window no further.
constexpr std::uint64_t kLargestPing = std::uint64_t{16} << 20;

Expected<Nanoseconds> ping(transport::Link& link, const Message& message,
                           std::chrono::milliseconds timeout) {
  const Deadline deadline = deadline_after(timeout);
  const TimePoint start = std::chrono::steady_clock::now();
  PARETO_TRY(link.send(message, deadline));
  PARETO_ASSIGN(const transport::Received answer, link.receive(deadline));
  if (answer.message.kind != MessageKind::kPong || answer.message.request != message.request) {
    return fail(ErrorCode::kCorrupt, "expected the answer to ping {}, got a message of kind {}",
                message.request, static_cast<int>(answer.message.kind));
  }
  return std::chrono::steady_clock::now() - start;
}

std::string refusal(const Message& answer) {
  if (const auto* tuple = answer.body.get_if<Tuple>(); tuple && tuple->items.size() == 2) {
    if (const auto* text = tuple->items[1].get_if<std::string>()) return *text;
  }
  return fmt::format("answered a message of kind {} to hello", static_cast<int>(answer.kind));
}

}  // namespace

Expected<std::unique_ptr<transport::Link>> connect_to_stage(transport::Transport& transport,
                                                            const std::string& address,
                                                            const Hello& hello,
                                                            std::chrono::milliseconds timeout) {
  const Deadline deadline = deadline_after(timeout);
  PARETO_ASSIGN(auto link, transport.connect(address, deadline));
  Message message;
  message.kind = MessageKind::kHello;
  message.pipeline = hello.pipeline;
  message.body = Dict{{{"protocol", static_cast<std::int64_t>(kProtocolVersion)},
                       {"pipeline", std::bit_cast<std::int64_t>(hello.pipeline)},
                       {"stage", static_cast<std::int64_t>(hello.stage)},
                       {"role", std::string(hello.role)}}};
  PARETO_TRY(link->send(message, deadline));
  PARETO_ASSIGN(const transport::Received& answer, link->receive(deadline));
  if (answer.message.kind != MessageKind::kReady) {
    return fail(ErrorCode::kInvalidArgument, "{}: {}", link->peer(), refusal(answer.message));
  }
  return link;
}

Expected<Nanoseconds> prime_link(transport::Link& link, std::uint64_t pipeline,
                                 std::uint64_t boundary_bytes, std::chrono::milliseconds timeout) {
  Message message;
  message.kind = MessageKind::kPing;
  message.pipeline = pipeline;
  Nanoseconds smallest = Nanoseconds::max();
  const auto small_pings = [&]() -> Expected<> {
    message.body = Value(None{});
    for (int i = 0; i < kSmallPings; ++i, ++message.request) {
      PARETO_ASSIGN(const Nanoseconds round_trip, ping(link, message, timeout));
      smallest = std::min(smallest, round_trip);
    }
    return {};
  };
  PARETO_TRY(small_pings());
  const auto size = static_cast<std::int64_t>(std::min(boundary_bytes, kLargestPing));
  PARETO_ASSIGN(Tensor tensor, Tensor::allocate(DType::kUInt8, {size}));
  std::ranges::fill(tensor.mutable_bytes(), std::byte{0});
  message.body = Value(std::move(tensor));
  for (int i = 0; i < kLargePings; ++i, ++message.request) {
    PARETO_TRY(ping(link, message, timeout));
  }
  PARETO_TRY(small_pings());
  return smallest;
}

}  // namespace pareto::client
