#include "core/transport/ping.h"

#include <algorithm>
#include <utility>

namespace pareto::transport {

using wire::Message;
using wire::MessageKind;

Expected<Value> ping_body(std::uint64_t bytes, PingWay way) {
  const bool there = way == PingWay::kThere;
  PARETO_ASSIGN(Tensor tensor, incompressible(there ? bytes : 0));
  return Value(
      Tuple{{there ? std::int64_t{0} : static_cast<std::int64_t>(bytes), std::move(tensor)}});
}

Expected<Nanoseconds> ping(Link& link, const Message& message, Deadline deadline) {
  const TimePoint start = std::chrono::steady_clock::now();
  PARETO_TRY(link.send(message, deadline));
  PARETO_ASSIGN(const Received answer, link.receive(deadline));
  if (answer.message.kind != MessageKind::kPong || answer.message.request != message.request) {
    return fail(ErrorCode::kCorrupt, "expected the answer to ping {}, got a message of kind {}",
                message.request, static_cast<int>(answer.message.kind));
  }
  return std::chrono::steady_clock::now() - start;
}

Expected<PingAnswer> read_pong(const Message& message, std::uint64_t request) {
  const auto* body = message.body.get_if<Tuple>();
  const bool sound = message.kind == MessageKind::kPong && message.request == request &&
                     body != nullptr && body->items.size() == 3;
  const auto* receive = sound ? body->items[0].get_if<std::int64_t>() : nullptr;
  const auto* send = sound ? body->items[1].get_if<std::int64_t>() : nullptr;
  if (receive == nullptr || send == nullptr) {
    return fail(ErrorCode::kCorrupt, "what came is not the answer to ping {}", request);
  }
  return PingAnswer{Nanoseconds(std::max<std::int64_t>(*receive, 0)),
                    Nanoseconds(std::max<std::int64_t>(*send, 0))};
}

Expected<> PingAnswers::answer(Link& link, Received ping, Deadline deadline) {
  const auto* body = ping.message.body.get_if<Tuple>();
  const auto* wanted =
      body != nullptr && body->items.size() == 2 ? body->items[0].get_if<std::int64_t>() : nullptr;
  Value answer = None{};
  if (wanted != nullptr) {
    if (*wanted < 0 || *wanted > static_cast<std::int64_t>(kLargestPingBytes)) {
      return fail(ErrorCode::kCorrupt, "a ping wants {} bytes back: 0 to {}", *wanted,
                  kLargestPingBytes);
    }
    const auto bytes = static_cast<std::uint64_t>(*wanted);
    if (bytes_.size_bytes() != bytes) {
      PARETO_ASSIGN(bytes_, incompressible(bytes));
    }
    answer = Tuple{{std::int64_t{ping.cpu.count()}, std::int64_t{last_send_cpu_.count()}, bytes_}};
  }
  Message& message = ping.message;
  message.kind = MessageKind::kPong;
  message.body = std::move(answer);
  PARETO_ASSIGN(const Sent sent, link.send(message, deadline));
  last_send_cpu_ = sent.cpu;
  return {};
}

Expected<Tensor> incompressible(std::uint64_t bytes) {
  PARETO_ASSIGN(Tensor tensor, Tensor::allocate(DType::kUInt8, {static_cast<std::int64_t>(bytes)}));
  std::uint64_t state = 1;
  for (std::byte& byte : tensor.mutable_bytes()) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    byte = static_cast<std::byte>(state >> 56);
  }
  return tensor;
}

}  // namespace pareto::transport
