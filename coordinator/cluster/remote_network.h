// The network between real devices, which make their own interfaces worse at our request
// (inventory.yaml: netem_interface).
//
//   device 0: what leaves fares as `forward` ══▶ device 1 …
//   device 1 …: what leaves fares as `backward` ══▶
//   if only one of them has such an interface, it does both: what leaves, and what comes in
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/network.h"

namespace pareto::cluster {

/// Checks that at least one device of an inventory lets its network be changed. Fails:
/// kInvalidArgument with the remedy.
Expected<> check_changeable(const std::vector<DeviceConfig>& devices);

/// A condition is added to what the network is by itself, and judged by the difference. Leases are
/// renewed as long as this lives; devices that cannot be reached any more take their condition back
/// by themselves.
///
/// Threads: one owner; one of its own renews.
class RemoteNetwork final : public Network {
 public:
  /// Creates a network of real devices. `devices` are the inventory's, in its order; they outlive
  /// it. Fails: kInvalidArgument (fewer than two, or none has an interface).
  static Expected<std::unique_ptr<RemoteNetwork>> create(std::vector<NamedCondition> conditions,
                                                         std::vector<DaemonClient*> devices);
  ~RemoteNetwork() override;

  Expected<netem::LinkMeasurement> apply(const std::string& condition) override;
  Expected<> offers(const std::string& condition) const override;
  Expected<> check() const override;
  std::string resting_condition() const override { return kNone; }
  std::string emulator() const override { return "devices"; }

 private:
  struct Impl;
  explicit RemoteNetwork(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::cluster
