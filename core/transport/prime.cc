#include "core/transport/prime.h"

#include <algorithm>

namespace pareto::transport {
namespace {

using wire::Message;
using wire::MessageKind;

constexpr int kSmallPings = 8;
constexpr std::uint64_t kFirstLargeBytes = 64 << 10;
constexpr std::uint64_t kMostBytes = 16 << 20;
// Of the largest size, at most: where times never settle, more of them help no more.
constexpr int kMostLargest = 10;
// A ping that is no better than this part of the best one before found the connection warm.
constexpr double kSettled = 0.95;

TimePoint now() { return std::chrono::steady_clock::now(); }

/// One link and the pings sent on it. Threads: one owner.
class Pinger {
 public:
  Pinger(Link& link, std::uint64_t pipeline, TimePoint deadline)
      : link_(link), deadline_(deadline) {
    message_.kind = MessageKind::kPing;
    message_.pipeline = pipeline;
  }

  Expected<> set_size(std::uint64_t bytes) {
    PARETO_ASSIGN(Tensor tensor, incompressible(bytes));
    message_.body = std::move(tensor);
    return {};
  }

  Expected<Nanoseconds> ping() {
    ++message_.request;
    return transport::ping(link_, message_, deadline_);
  }

  /// Whether a ping of twice the size of one that took so long ends in time; the rest of deploying needs some too.
  bool has_time_after(Nanoseconds last) const { return deadline_ - now() >= 4 * last; }

 private:
  Link& link_;
  const TimePoint deadline_;
  Message message_;
};

}  // namespace

Expected<Nanoseconds> ping(Link& link, const Message& message, Deadline deadline) {
  const TimePoint start = now();
  PARETO_TRY(link.send(message, deadline));
  PARETO_ASSIGN(const Received answer, link.receive(deadline));
  if (answer.message.kind != MessageKind::kPong || answer.message.request != message.request) {
    return fail(ErrorCode::kCorrupt, "expected the answer to ping {}, got a message of kind {}",
                message.request, static_cast<int>(answer.message.kind));
  }
  return now() - start;
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

Expected<LinkFigures> prime(Link& link, std::uint64_t pipeline, std::uint64_t boundary_bytes,
                            TimePoint deadline) {
  Pinger pinger(link, pipeline, deadline);
  LinkFigures figures;
  figures.round_trip = Nanoseconds::max();
  for (int i = 0; i < kSmallPings; ++i) {
    PARETO_ASSIGN(const Nanoseconds time, pinger.ping());
    figures.round_trip = std::min(figures.round_trip, time);
  }
  const std::uint64_t largest = std::min(boundary_bytes, kMostBytes);
  for (std::uint64_t size = kFirstLargeBytes; size < largest; size *= 2) {
    PARETO_TRY(pinger.set_size(size));
    PARETO_ASSIGN(const Nanoseconds time, pinger.ping());
    if (!pinger.has_time_after(time)) return figures;
  }
  PARETO_TRY(pinger.set_size(largest));
  Nanoseconds best = Nanoseconds::max();
  for (int i = 0; i < kMostLargest; ++i) {
    PARETO_ASSIGN(const Nanoseconds time, pinger.ping());
    const bool settled =
        i > 0 && static_cast<double>(time.count()) >= kSettled * static_cast<double>(best.count());
    best = std::min(best, time);
    if (settled || !pinger.has_time_after(time)) break;
  }
  const Nanoseconds moving = best - figures.round_trip;
  if (moving.count() > 0) {
    figures.bytes_per_second = static_cast<std::uint64_t>(static_cast<double>(2 * largest) * 1e9 /
                                                          static_cast<double>(moving.count()));
  }
  return figures;
}

}  // namespace pareto::transport
