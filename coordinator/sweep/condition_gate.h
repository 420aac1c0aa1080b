// The network between devices, condition by condition. A condition is measured before it is used,
// and refused for the rest of the sweep if it cannot be had.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "coordinator/cluster/network.h"
#include "coordinator/results/record.h"
#include "core/base/error.h"

namespace pareto::sweep {

/// The network, the condition that it has now, and those that were refused.
///
/// Threads: one owner. The network outlives it.
class ConditionGate {
 public:
  /// `network` may be null: there is nothing to be changed about it.
  explicit ConditionGate(cluster::Network* network) : network_(network) {}

  /// Gives the network a condition. Returns what the network was measured to be like; no value
  /// means that it is not emulated. If this fails and the condition was never had, the condition is
  /// refused from now on. Fails: as cluster::apply_condition.
  Expected<std::optional<results::NetworkFigures>> enter(const std::string& condition);
  /// Gives the network its condition for what is not a trial. Fails: as Network::apply.
  Expected<> rest() { return cluster::put_to_rest(network_); }
  /// Fails, as Network::check, if the condition did not hold since it was entered.
  Expected<> check() const;

  bool is_refused(const std::string& condition) const { return refused_.contains(condition); }
  bool any_refused() const { return !refused_.empty(); }

 private:
  cluster::Network* network_;
  std::set<std::string> refused_;
  std::set<std::string> held_;  ///< conditions that were had at least once
};

}  // namespace pareto::sweep
