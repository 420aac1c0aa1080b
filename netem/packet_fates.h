// Decides what a direction of a link does to each packet, by seeded dice. No network.
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "core/base/clock.h"
#include "core/plan/condition.h"

namespace pareto::netem {

struct PacketFate {
  bool lost = false;
  bool duplicated = false;
  bool overtakes = false;  ///< leaves at once, before what waits
  Nanoseconds delay{};     ///< never less than 0
};

/// Fates of successive packets. The same seed gives the same fates.
///
/// Threads: one owner.
class PacketFates {
 public:
  PacketFates(const plan::LinkDirection& direction, std::uint64_t seed);

  /// Returns the fate of the next packet, which comes while the direction's delay is `delay`.
  PacketFate next(Nanoseconds delay);

 private:
  bool happens(double share);
  bool is_lost();
  /// Draws the jitter of a packet, beyond the delay; its mean is 0.
  Nanoseconds jitter();

  plan::Jitter jitter_;
  double loss_;
  std::optional<plan::BurstLoss> burst_loss_;
  double reorder_;
  double duplicate_;
  std::mt19937_64 random_;
  bool bad_ = false;    ///< the link, as BurstLoss has it
  double deviate_ = 0;  ///< the last packet's, standard normal
};

}  // namespace pareto::netem
