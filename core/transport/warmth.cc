#include "core/transport/warmth.h"

#include <algorithm>

namespace pareto::transport {
namespace {

constexpr std::chrono::microseconds kLeastRoundTrip{500};
// Ten segments: the window that a connection starts with, and falls back to.
constexpr double kFirstWindowBytes = 10 * 1448;
// The kernel's timeout is the round trip and at least 200 ms; this is early enough on a busy
// machine.
constexpr std::chrono::milliseconds kBelowTimeout{165};
constexpr double kMostOfRate = 0.1;
// A burst over half the window counts as using it. More of it would only be in the way of the next
// request.
constexpr double kPartOfWindow = 9.0 / 16;

}  // namespace

std::optional<Padding> padding_for(const LinkFigures& figures, std::uint64_t boundary_bytes) {
  if (figures.round_trip < kLeastRoundTrip || figures.bytes_per_second == 0) return std::nullopt;
  const auto rate = static_cast<double>(figures.bytes_per_second);
  // What has to be in flight at a time, with room for a rate that was taken for less than it is.
  const double window =
      std::min(static_cast<double>(boundary_bytes), 2 * rate * to_seconds(figures.round_trip));
  if (window <= kFirstWindowBytes) return std::nullopt;
  const Nanoseconds interval = figures.round_trip + kBelowTimeout;
  const double bytes = std::min(kPartOfWindow * window, kMostOfRate * rate * to_seconds(interval));
  return Padding{interval, static_cast<std::uint64_t>(bytes)};
}

std::uint64_t warm_for(const LinkFigures& figures, std::uint64_t boundary_bytes, bool cools) {
  const bool any_size =
      padding_for(figures, boundary_bytes) == padding_for(figures, figures.primed_bytes);
  return any_size || !cools ? std::max(boundary_bytes, figures.primed_bytes) : boundary_bytes;
}

}  // namespace pareto::transport
