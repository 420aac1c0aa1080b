// The devices that a sweep has lost: those that no longer answer, or have ended its session.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"
#include "core/plan/plan.h"

namespace pareto::sweep {

/// The time that a device gets to answer before it counts as lost.
inline constexpr std::chrono::milliseconds kProbeTimeout{3'000};

/// Returns whether a request that failed so may have lost a device.
bool may_mean_loss(ErrorCode code);

/// A device that was lost stays lost. Its client is abandoned, so that nothing waits for the device
/// again.
///
/// Threads: one owner. The cluster outlives it.
class LostDevices {
 public:
  explicit LostDevices(const cluster::Cluster& cluster) : cluster_(cluster) {}

  /// Asks devices at which something has just failed, if `code` may mean that one is gone. Returns
  /// the names of those that are lost since.
  std::vector<std::string> look_for(const std::vector<std::string>& devices, ErrorCode code);
  /// Returns why the plan's first lost device is lost; null: none of its devices is.
  const Error* loss_of(const plan::Plan& plan) const;
  bool any() const { return !lost_.empty(); }
  bool all() const { return lost_.size() >= cluster_.size(); }

 private:
  const cluster::Cluster& cluster_;
  std::map<std::string, Error> lost_;
};

}  // namespace pareto::sweep
