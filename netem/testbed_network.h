// A test bed's network: a namespace for each device, and an emulated link where the topology has
// one. All of it ends with the process that made it, also after kill -9.
//
//   coordinator, device 0 ══ link 0 ══ device 1 ══ link 1 ══ device 2
//
// A device hands on what is not for it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "netem/link_emulator.h"
#include "netem/network_namespace.h"
#include "netem/testbed.h"

namespace pareto::netem {

/// The namespaces and links of one test bed.
///
/// Threads: as its parts.
class TestbedNetwork {
 public:
  /// Makes the network with the conditions of the test bed's links. Fails: as NetworkNamespace and
  /// LinkEmulator do.
  static Expected<TestbedNetwork> create(const Testbed& bed);

  std::size_t links() const { return links_.size(); }
  LinkEmulator& link(std::size_t index) const { return *links_[index]; }
  LinkEnd first(std::size_t link) const;
  LinkEnd second(std::size_t link) const;

  std::size_t devices() const { return devices_; }
  const NetworkNamespace& device(std::size_t index) const { return places_[index]; }
  /// Returns the address by which all others reach a device, whichever way.
  static std::string host(std::size_t device);

 private:
  TestbedNetwork(Topology topology, std::size_t devices) : topology_(topology), devices_(devices) {}
  Expected<> join(const Testbed& bed);
  Expected<> set_up_routes() const;

  Topology topology_;
  std::size_t devices_;
  /// Namespaces of the devices; in a star, that of the switch behind them.
  std::vector<NetworkNamespace> places_;
  std::vector<std::unique_ptr<LinkEmulator>> links_;
};

}  // namespace pareto::netem
