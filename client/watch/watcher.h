// Asks devices again and again how they are; one that does not answer is asked again every time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "client/watch/activity.h"
#include "coordinator/cluster/daemon_client.h"
#include "core/base/error.h"

namespace pareto::watch {

/// The devices that are watched, with a connection to each that answered.
///
/// Threads: one owner. Devices are asked at the same time, each on a thread that ends with read().
class Watcher {
 public:
  using Connect = std::function<Expected<std::unique_ptr<cluster::DaemonClient>>(
      const cluster::DeviceConfig&, std::chrono::milliseconds)>;

  explicit Watcher(std::vector<cluster::DeviceConfig> devices,
                   Connect connect = cluster::connect_daemon);

  /// Reads all devices, in their order, once each has answered or was given up. That takes at most
  /// `patience` for each host at which a device may be reached, and once more for its answer. For
  /// most addresses this is twice `patience`. An address with `srv:` may have several hosts, and
  /// looking them up first takes its own time.
  std::vector<DeviceReading> read(std::chrono::milliseconds patience);

 private:
  struct Device {
    cluster::DeviceConfig config;
    std::unique_ptr<cluster::DaemonClient> client;  ///< null: to be connected
  };
  DeviceReading ask(Device& device, std::chrono::milliseconds patience) const;

  std::vector<Device> devices_;
  const Connect connect_;
};

}  // namespace pareto::watch
