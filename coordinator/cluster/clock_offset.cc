#include "coordinator/cluster/clock_offset.h"

#include <algorithm>

namespace pareto::cluster {
namespace {

// Over 30 years: sums of a few of these do not overflow.
constexpr Nanoseconds kLargest{std::int64_t{1} << 60};

bool is_plausible(const ClockExchange& exchange) {
  const auto [asked, received, answered, heard] = exchange;
  for (const Nanoseconds time : {asked, received, answered, heard}) {
    if (time < -kLargest || time > kLargest) return false;
  }
  return asked <= heard && received <= answered && answered - received <= heard - asked;
}

Nanoseconds on_its_way(const ClockExchange& exchange) {
  return (exchange.heard - exchange.asked) - (exchange.answered - exchange.received);
}

}  // namespace

Expected<ClockOffset> clock_offset_of(std::span<const ClockExchange> exchanges) {
  if (exchanges.empty()) return fail(ErrorCode::kInvalidArgument, "no exchange of clocks");
  if (!std::ranges::all_of(exchanges, is_plausible)) {
    return fail(ErrorCode::kCorrupt, "the answer's timestamps contradict each other");
  }
  const ClockExchange& best = *std::ranges::min_element(exchanges, {}, on_its_way);
  const Nanoseconds twice = (best.received - best.asked) + (best.answered - best.heard);
  // Both halves may have lost half a nanosecond.
  return ClockOffset{twice / 2, on_its_way(best) / 2 + Nanoseconds(1)};
}

ClockOffset enclosing(const ClockOffset& before, const ClockOffset& after) {
  const Nanoseconds low = std::min(before.offset - before.error, after.offset - after.error);
  const Nanoseconds high = std::max(before.offset + before.error, after.offset + after.error);
  return {low + (high - low) / 2, (high - low + Nanoseconds(1)) / 2};
}

}  // namespace pareto::cluster
