#include "core/transport/prime.h"

#include <algorithm>

namespace pareto::transport {
namespace {

using wire::Message;
using wire::MessageKind;

constexpr int kPrimingPings = 8;
// Fewer where they take long: what varies is small next to that.
constexpr int kFewestSmallPings = 2;
constexpr std::chrono::milliseconds kSmallPingsTime{30};
constexpr std::chrono::milliseconds kOneIsEnough{100};
// Every connection begins with room for that much (RFC 6928).
constexpr std::uint64_t kAlwaysFits = 8 << 10;
constexpr std::uint64_t kFirstLargeBytes = 64 << 10;
constexpr std::uint64_t kMostBytes = 16 << 20;
constexpr std::uint64_t kShownToPaced = 512 << 10;
// Half of less is not worth it.
constexpr std::chrono::microseconds kLeastPacedRoundTrip{500};
// Of the largest size, at most: where times never settle, more of them help no more.
constexpr int kMostLargest = 10;
// A ping that is no better than this part of the best one before found the connection warm.
constexpr double kSettled = 0.95;

TimePoint prime_now() { return std::chrono::steady_clock::now(); }

/// One link and the pings sent on it. Threads: one owner.
class Pinger {
 public:
  Pinger(Link& link, std::uint64_t pipeline, PingWay way, TimePoint deadline)
      : link_(link), way_(way), deadline_(deadline) {
    message_.kind = MessageKind::kPing;
    message_.pipeline = pipeline;
  }

  Expected<> set_size(std::uint64_t bytes) {
    PARETO_ASSIGN(message_.body, ping_body(bytes, way_));
    return {};
  }

  Expected<Nanoseconds> ping() {
    ++message_.request;
    return transport::ping(link_, message_, deadline_);
  }

  /// Returns whether a ping of twice the size of one that took so long ends in time; the rest of
  /// deploying needs some too.
  bool has_time_after(Nanoseconds last) const { return deadline_ - prime_now() >= 4 * last; }

 private:
  Link& link_;
  const PingWay way_;
  const TimePoint deadline_;
  Message message_;
};

/// The times of pings whose sizes double. Threads: one owner.
class Growth {
 public:
  explicit Growth(Nanoseconds round_trip) : round_trip_(round_trip) {}

  /// Returns whether only the rate limits a message. If so, twice the bytes take twice as long
  /// beyond a round trip. While a window opens they do not: it is as large by then as the message
  /// before, so that each takes another round trip at most. And a window is open once a message is
  /// longer on its way than a round trip.
  bool is_held_by_rate(Nanoseconds time) {
    const Nanoseconds moving = time - round_trip_;
    const bool as_fast_as_before =
        moving_before_.count() > 0 &&
        to_nanoseconds(moving) >= kTwice * to_nanoseconds(moving_before_);
    const bool longer_than_window = moving >= round_trip_ && moving - moving_before_ >= kNoticeable;
    moving_before_ = moving;
    return as_fast_as_before && longer_than_window;
  }

 private:
  /// The rate of the smaller one is seen a little too low: its window was opening.
  static constexpr double kTwice = 1.6;
  /// The noticeable difference. On links so fast that doubling costs less, noise is as large.
  static constexpr Nanoseconds kNoticeable = std::chrono::milliseconds(5);

  const Nanoseconds round_trip_;
  Nanoseconds moving_before_{};
};

/// Returns the rate of a ping of `bytes` bytes that took `moving` beyond a round trip; 0: too fast
/// to tell.
std::uint64_t rate_of(std::uint64_t bytes, Nanoseconds moving) {
  if (moving.count() <= 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(bytes) * 1e9 / to_nanoseconds(moving));
}

/// Returns whether a ping is over the link's limits. Larger ones than messages need not fit.
bool is_refused(const Expected<Nanoseconds>& pinged) {
  return !pinged && pinged.error().code == ErrorCode::kExhausted;
}

}  // namespace

Expected<LinkFigures> prime(Link& link, std::uint64_t pipeline, std::uint64_t boundary_bytes,
                            PingWay way, TimePoint deadline, bool paced) {
  Pinger pinger(link, pipeline, way, deadline);
  LinkFigures figures;
  figures.round_trip = Nanoseconds::max();
  const TimePoint began = prime_now();
  for (int i = 0; i < kPrimingPings; ++i) {
    PARETO_ASSIGN(const Nanoseconds time, pinger.ping());
    figures.round_trip = std::min(figures.round_trip, time);
    const Nanoseconds spent = prime_now() - began;
    if (spent > kOneIsEnough || (i + 1 >= kFewestSmallPings && spent > kSmallPingsTime)) break;
  }
  std::uint64_t largest = std::min(boundary_bytes, kMostBytes);
  figures.primed_bytes = std::max(largest, kAlwaysFits);
  if (paced && figures.round_trip >= kLeastPacedRoundTrip) {
    largest = std::max(largest, kShownToPaced);
    figures.primed_bytes = largest;
  }
  // So few bytes fit whatever the link is, and take no longer than chance does: they tell no rate.
  if (largest <= kAlwaysFits) return figures;
  Growth growth(figures.round_trip);
  for (std::uint64_t size = kFirstLargeBytes; size < largest; size *= 2) {
    PARETO_TRY(pinger.set_size(size));
    const auto pinged = pinger.ping();
    if (is_refused(pinged) && size > boundary_bytes) return figures;
    PARETO_ASSIGN(const Nanoseconds time, pinged);
    if (!pinger.has_time_after(time)) {
      figures.primed_bytes = size;
      return figures;
    }
    if (growth.is_held_by_rate(time)) {
      figures.bytes_per_second = rate_of(size, time - figures.round_trip);
      figures.primed_bytes = UINT64_MAX;
      return figures;
    }
  }
  PARETO_TRY(pinger.set_size(largest));
  Nanoseconds best = Nanoseconds::max();
  for (int i = 0; i < kMostLargest; ++i) {
    const auto pinged = pinger.ping();
    if (is_refused(pinged) && largest > boundary_bytes) return figures;
    PARETO_ASSIGN(const Nanoseconds time, pinged);
    const bool settled = i > 0 && to_nanoseconds(time) >= kSettled * to_nanoseconds(best);
    best = std::min(best, time);
    if (settled || !pinger.has_time_after(time)) break;
  }
  figures.bytes_per_second = rate_of(largest, best - figures.round_trip);
  return figures;
}

}  // namespace pareto::transport
