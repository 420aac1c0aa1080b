#include "netem/packet_fates.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pareto::netem {
namespace {

/// The share of a standard normal distribution below z.
double normal_share_below(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

/// A standard normal deviate as one of another shape with the same rank, of mean 0 and deviation 1.
double shaped(JitterShape shape, double z) {
  if (shape == JitterShape::kNormal) return z;
  const double share = normal_share_below(z);
  if (shape == JitterShape::kUniform) return (2 * share - 1) * std::numbers::sqrt3;
  // Pareto of index 3 from 1 on, cut off at 10: without that its deviation would be made of packets that hardly ever come.
  constexpr double kMost = 10;
  constexpr double kMean = 1 + (1 - 1 / (kMost * kMost)) / 2;
  constexpr double kMeanSquare = 1 + 2 * (1 - 1 / kMost);
  const double number = std::min(std::cbrt(1 / std::max(1 - share, 1e-12)), kMost);
  return (number - kMean) / std::sqrt(kMeanSquare - kMean * kMean);
}

}  // namespace

PacketFates::PacketFates(const LinkDirection& direction, std::uint64_t seed)
    : jitter_(direction.jitter),
      loss_(direction.loss),
      burst_loss_(direction.burst_loss),
      reorder_(direction.reorder),
      duplicate_(direction.duplicate),
      random_(seed) {}

PacketFate PacketFates::next(Nanoseconds delay) {
  PacketFate fate;
  fate.lost = is_lost();
  if (fate.lost) return fate;
  fate.duplicated = happens(duplicate_);
  fate.overtakes = happens(reorder_);
  if (!fate.overtakes) fate.delay = std::max(delay + jitter(), Nanoseconds(0));
  return fate;
}

bool PacketFates::happens(double share) {
  return share > 0 && std::uniform_real_distribution<double>()(random_) < share;
}

bool PacketFates::is_lost() {
  if (!burst_loss_) return happens(loss_);
  bad_ = bad_ ? !happens(burst_loss_->leave) : happens(burst_loss_->enter);
  return happens(bad_ ? burst_loss_->when_bad : burst_loss_->when_good);
}

Nanoseconds PacketFates::jitter() {
  if (jitter_.deviation.count() == 0) return {};
  // A first-order autoregression keeps the deviation, whatever the correlation.
  const double fresh = std::normal_distribution<double>()(random_);
  const double kept = jitter_.correlation;
  deviate_ = kept * deviate_ + std::sqrt(1 - kept * kept) * fresh;
  const double deviations = shaped(jitter_.shape, deviate_);
  return Nanoseconds(std::llround(deviations * static_cast<double>(jitter_.deviation.count())));
}

}  // namespace pareto::netem
