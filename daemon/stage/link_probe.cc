#include "daemon/stage/link_probe.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/control/hello.h"
#include "core/transport/ping.h"

namespace pareto::daemon {
namespace {

using wire::Message;
using wire::MessageKind;

constexpr std::int64_t kFirstSize = 32 << 10;
constexpr std::int64_t kLargestSize = 16 << 20;
/// Time that the larger ping should spend on the wire.
constexpr Nanoseconds kLongEnough = std::chrono::milliseconds(20);
constexpr int kPairs = 5;

Expected<Message> ping_of(std::int64_t bytes) {
  PARETO_ASSIGN(Tensor tensor, transport::incompressible(static_cast<std::uint64_t>(bytes)));
  Message message;
  message.kind = MessageKind::kPing;
  message.body = std::move(tensor);
  return message;
}

/// Returns the time of the second of two pings: the first one opens the congestion window.
Expected<Nanoseconds> time_warm_ping(transport::Link& link, std::int64_t bytes, Deadline deadline) {
  PARETO_ASSIGN(const Message message, ping_of(bytes));
  PARETO_TRY(transport::ping(link, message, deadline));
  return transport::ping(link, message, deadline);
}

}  // namespace

double rate_between(std::int64_t bytes, Nanoseconds half_more, Nanoseconds whole) {
  const double least = static_cast<double>(bytes) / std::max(to_seconds(whole), 1e-9);
  if (half_more <= Nanoseconds::zero()) return least;
  return std::max(static_cast<double>(bytes) / 2 / to_seconds(half_more), least);
}

Expected<LinkSpeed> measure_link(transport::Link& link, Deadline deadline) {
  PARETO_ASSIGN(const Nanoseconds latency, time_warm_ping(link, 1, deadline));
  std::int64_t size = kFirstSize;
  for (; size < kLargestSize; size *= 2) {
    PARETO_ASSIGN(const Nanoseconds warm, time_warm_ping(link, size, deadline));
    if (warm - latency >= kLongEnough) break;
  }
  PARETO_ASSIGN(const Message large, ping_of(size));
  PARETO_ASSIGN(const Message small, ping_of(size / 2));
  std::vector<Nanoseconds> differences;
  Nanoseconds fastest = Nanoseconds::max();
  for (int pair = 0; pair < kPairs; ++pair) {
    PARETO_ASSIGN(const Nanoseconds short_time, transport::ping(link, small, deadline));
    PARETO_ASSIGN(const Nanoseconds long_time, transport::ping(link, large, deadline));
    differences.push_back(long_time - short_time);
    fastest = std::min(fastest, long_time);
  }
  std::ranges::sort(differences);
  return LinkSpeed{rate_between(size, differences[kPairs / 2], fastest), latency};
}

void answer_probe(transport::Link& link, std::uint64_t pipeline, Deadline deadline) {
  auto sent = link.send(control::ready_message(pipeline), deadline);
  transport::PingAnswers answers;
  while (sent) {
    auto received = link.receive(deadline);
    if (!received || received->message.kind != MessageKind::kPing) break;
    if (!answers.answer(link, *std::move(received), deadline)) break;
  }
  link.close();
}

}  // namespace pareto::daemon
