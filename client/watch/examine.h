// Gathers what is to be known of devices before they are trusted with a measurement. Nothing is
// changed on them.
#pragma once

#include <memory>
#include <vector>

#include "client/watch/health.h"
#include "coordinator/cluster/daemon_client.h"

namespace pareto::watch {

/// Connects to each, at the same time. Null where there is a problem, which is said in its place of
/// `facts`.
std::vector<std::unique_ptr<cluster::DaemonClient>> connect_each(
    const std::vector<cluster::DeviceConfig>& configs, std::vector<DeviceHealth>& facts);

/// Examines how a device that answers is, and how its clock goes.
DeviceHealth examine_device(cluster::DaemonClient& device);

/// Examines every way over a network between this machine and the devices, and between two devices,
/// with each dialling the others. A device examines its ways one after the other; all devices do so
/// at the same time.
std::vector<WayFacts> examine_ways(const std::vector<cluster::DaemonClient*>& devices);

/// Returns what processes of others take of this machine and of the devices' machines, watched for
/// half a second.
std::vector<results::ForeignLoad> watch_others(const std::vector<cluster::DaemonClient*>& devices);

}  // namespace pareto::watch
