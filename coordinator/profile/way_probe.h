// Probes one way of a link: from the coordinator to a device, back, or between two devices.
#pragma once

#include <chrono>
#include <string>

#include "coordinator/cluster/daemon_client.h"
#include "core/base/error.h"
#include "core/transport/link_probe.h"

namespace pareto::profile {

/// Probes the way between the coordinator and a device, over a connection of its own:
/// options.way says which. `limit` holds for each of connecting and probing. Fails: kNotFound (a
/// device without that transport), and as links do.
Expected<transport::ProbeResult> probe_from_here(const cluster::DaemonClient& device,
                                                 const std::string& transport,
                                                 const transport::ProbeOptions& options,
                                                 std::chrono::milliseconds limit);
/// Probes the way from one device to another. Fails: as above, and as devices do.
Expected<transport::ProbeResult> probe_between(cluster::DaemonClient& from,
                                               const cluster::DaemonClient& to,
                                               const std::string& transport,
                                               const transport::ProbeOptions& options,
                                               std::chrono::milliseconds limit);

}  // namespace pareto::profile
