#include "core/transport/silence.h"

#include <algorithm>
#include <utility>

namespace pareto::transport {
namespace {

constexpr int kBeats = 8;
constexpr int kTransmissions = 8;
constexpr Nanoseconds kShortestTimeout = std::chrono::milliseconds(200);
constexpr int kSilences = 4;

}  // namespace

Nanoseconds patience_for(Nanoseconds beat, Nanoseconds round_trip, Nanoseconds longest_silence) {
  const Nanoseconds longest =
      std::max({kLeastPatience, kBeats * beat, kTransmissions * (round_trip + kShortestTimeout),
                kSilences * longest_silence});
  return std::min(longest, kMostPatience);
}

void Silence::heard(TimePoint asked, TimePoint at) {
  const Nanoseconds silence = silent_ + std::max<Nanoseconds>(at - asked, Nanoseconds(0));
  silent_ = Nanoseconds(0);
  if (at - period_began_ > kRemembered) {
    longest_before_ = std::exchange(longest_, Nanoseconds(0));
    period_began_ = at;
  }
  longest_ = std::max(longest_, silence);
}

bool Silence::missed(Nanoseconds meant, Nanoseconds took, Nanoseconds round_trip) {
  silent_ += std::clamp(took, Nanoseconds(0), std::max(meant, Nanoseconds(0)));
  return silent_ >= patience(round_trip);
}

Nanoseconds Silence::patience(Nanoseconds round_trip) const {
  if (least_ < kLeastPatience) return least_;
  return patience_for(beat_, round_trip, std::max(longest_, longest_before_));
}

}  // namespace pareto::transport
