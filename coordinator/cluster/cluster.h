// The devices of an experiment: read from an inventory file, or two daemons started on loopback.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/cluster/testbed_registry.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/control/device_use.h"
#include "netem/testbed.h"
#include "partitioner/planning/objective/objective.h"

namespace pareto::tls {
class Credentials;  // core/tls/credentials.h
}

namespace pareto::cluster {

class DaemonClient;     // coordinator/cluster/daemon_client.h
class EmulatedNetwork;  // coordinator/cluster/network.h
class Network;

/// One entry of an inventory (configs/inventory.yaml).
struct DeviceConfig {
  std::string name;  ///< "pi-1"
  /// Address of its control service: "192.168.1.20:7070", or one that stands for it.
  std::string address;
  std::string
      netem_interface{};  ///< "eth1": made worse where a condition is asked for; empty: none
  bool netem_control_too = false;     ///< even if it carries the control service
  planning::DeviceFigures figures{};  ///< that objectives need, as its owner says them
  std::string medium{};  ///< a name for what devices share, a Wi-Fi channel; empty: nothing
  /// Name that its certificate has to hold; empty: any device of the authority is taken.
  std::string identity{};
  bool insecure = false;  ///< its daemon lets everybody in: no TLS
  /// Credentials that this program shows it; null: it shows none (own_credentials.h).
  std::shared_ptr<const tls::Credentials> credentials{};
};

/// Reads inventory.yaml, all of it before any is used. Fails: kNotFound, kInvalidArgument with
/// file, line and nearest key.
Expected<std::vector<DeviceConfig>> read_inventory(const std::filesystem::path& path);

/// Connected devices, in inventory order. Daemons it started itself end with it.
///
/// Threads: one owner, but for abandon().
class Cluster {
 public:
  /// Connects to every device and checks protocol versions. Fails: kUnavailable or kTimeout naming
  /// the device, kInvalidArgument (another protocol version, both named).
  static Expected<Cluster> connect(const std::vector<DeviceConfig>& devices);
  static Expected<Cluster> connect(const std::vector<DeviceConfig>& devices,
                                   std::unique_ptr<Network> network);
  /// Starts `count` daemons of this build on loopback. Each has a core of its own if there are
  /// enough, and says when it is ready. They end with the cluster, also when this process is
  /// killed. Fails: as ChildProcess does.
  static Expected<Cluster> start_local(int count, const std::filesystem::path& paretod);
  /// Starts the same as the devices of a test bed, with its limits, each where the network has it.
  /// Control groups are called as the test bed, which is `claim`ed where it has limits. Fails: as
  /// ResourceGroup does too.
  static Expected<Cluster> start_local(const netem::Testbed& bed,
                                       const std::filesystem::path& paretod,
                                       std::unique_ptr<EmulatedNetwork> network,
                                       std::optional<TestbedRegistry::Claim> claim);
  /// Makes a cluster of devices that the caller connected.
  static Cluster of(std::vector<std::unique_ptr<DaemonClient>> devices);
  static Cluster of(std::vector<std::unique_ptr<DaemonClient>> devices,
                    std::unique_ptr<Network> network);
  Cluster(Cluster&&) noexcept;
  Cluster& operator=(Cluster&&) noexcept;
  ~Cluster();

  std::size_t size() const;
  DaemonClient& device(std::size_t index) const;
  /// Finds a device by its name. Fails: kNotFound with the nearest names.
  Expected<DaemonClient*> find(const std::string& name) const;
  /// Connects to a device again, at the address that was asked for: what was set up there before is
  /// given up. The client that device() and find() returned before is gone then. Fails: as
  /// connect(), and the device stays as it is.
  Expected<> reconnect(const std::string& name, std::chrono::milliseconds timeout);
  /// Takes all devices for a use, one after the other and each cluster in the same order, so that
  /// no two wait for each other. A device that is connected to again later is taken for it too.
  /// Returns the last known term of the lease. Fails: as DaemonClient::take(); all are let go then.
  Expected<std::uint64_t> take(
      const control::DeviceUse& use, TimePoint until,
      const std::function<bool(const std::string& device, const std::vector<control::Holder>&)>&
          waiting);
  /// Abandons those of these devices that there are (daemon_client.h). Any thread, also during a
  /// reconnect(), whose new client is not abandoned.
  void abandon(const std::vector<std::string>& names);
  /// Returns how many of the devices are on the machine of this one, itself included; for a daemon
  /// that does not tell where it is, 1.
  int machine_shared_by(const DaemonClient& device) const;
  /// Returns the network between the devices; null if nothing about it can be changed.
  Network* network() const;
  /// Uses a network that asks the devices to change theirs; it ends before they do.
  void use_network(std::unique_ptr<Network> network);
  /// Process ids of the daemons that start_local started, in order; empty otherwise.
  std::vector<int> local_pids() const;
  /// Starts a daemon of start_local again as it was started, after ending it if it runs, and
  /// connects to it. On the thread that called start_local. Fails: kNotFound (no such daemon), and
  /// as start_local.
  Expected<> start_again(std::size_t device);
  /// Leaves a device of start_local no room on its disk, or gives it room again. On the same
  /// thread. Fails: kInvalidArgument (it has no disk of its own), kUnavailable.
  Expected<> set_disk_full(std::size_t device, bool full);
  /// Returns the file of the network namespace of a device of start_local; empty if it has none.
  std::string place(std::size_t device) const;
  /// Returns the claim on the test bed that start_local was given; null without one.
  const TestbedRegistry::Claim* claim() const;

 private:
  struct Impl;
  explicit Cluster(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::cluster
