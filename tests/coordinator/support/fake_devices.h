// The devices of a cluster that lives in the test.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/coordinator/support/fake_daemon.h"
#include "tests/coordinator/support/memory_transport.h"

namespace pareto::test {

/// Returns one of each name; `daemons` gets them too, to be told what to do. The transport outlives
/// them.
inline std::vector<std::unique_ptr<cluster::DaemonClient>> fake_devices(
    const std::vector<std::string>& names, MemoryTransport& transport,
    std::vector<FakeDaemon*>& daemons) {
  std::vector<std::unique_ptr<cluster::DaemonClient>> devices;
  for (const std::string& name : names) {
    auto daemon = std::make_unique<FakeDaemon>(name, transport);
    daemons.push_back(daemon.get());
    devices.push_back(std::move(daemon));
  }
  return devices;
}

}  // namespace pareto::test
