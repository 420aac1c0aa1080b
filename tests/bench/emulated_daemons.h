// Two daemons with an emulated link between them, each of one thread: two devices on one machine.
// They need root, and a process of their own, which moves into a network namespace.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/process.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/plan/condition.h"
#include "netem/link_emulator.h"
#include "netem/network_namespace.h"

namespace pareto::bench {

/// Two daemons in two network namespaces.
///
/// Threads: one, the first of the process, which stays in its namespace.
class EmulatedDaemons {
 public:
  /// Moves the calling thread, so it comes before any other is started. An empty name leaves the
  /// congestion control as it is. Fails: kPermission (no root), kUnavailable (no such congestion
  /// control, a daemon).
  static Expected<std::unique_ptr<EmulatedDaemons>> start(const plan::LinkDirection& both_ways,
                                                          const std::string& congestion_control);

  /// Returns the daemon of this namespace, then the other.
  Expected<cluster::Cluster> connect() const;

 private:
  EmulatedDaemons() = default;

  // Ended in the opposite order: daemons before the link between them.
  std::unique_ptr<netem::NetworkNamespace> here_;
  std::unique_ptr<netem::NetworkNamespace> there_;
  std::unique_ptr<netem::LinkEmulator> link_;
  std::unique_ptr<TemporaryFolder> folder_;
  std::vector<cluster::ChildProcess> daemons_;
  std::vector<cluster::DeviceConfig> devices_;
};

/// Runs this program again as a process of its own, which measures `what` (main.cc) and writes one
/// JSON document.
Expected<nlohmann::json> measure_apart(const std::string& what,
                                       const std::vector<std::string>& arguments);

/// Runs `measure` in such a process and writes what it returns to that descriptor. Returns
/// the exit status.
int answer_apart(int ready_fd, const std::function<Expected<nlohmann::json>()>& measure);

}  // namespace pareto::bench
