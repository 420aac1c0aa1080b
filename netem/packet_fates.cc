#include "netem/packet_fates.h"

#include <algorithm>
#include <cmath>

#include "core/plan/jitter_shape.h"

namespace pareto::netem {

PacketFates::PacketFates(const plan::LinkDirection& direction, std::uint64_t seed)
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
  const double deviations = plan::shaped_deviate(jitter_.shape, deviate_);
  return from_nanoseconds(deviations * to_nanoseconds(jitter_.deviation));
}

}  // namespace pareto::netem
