// Workers on another device. Each runs its stages there as pipelines of one stage.
//
//   run(stage, values) ══ link ══▶ [ the stage on its device ] ══ link ══▶ values
//
// What goes from one device to another passes this process, so that any worker may run any stage.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/transport_set.h"
#include "coordinator/tasks/worker.h"

namespace pareto::tasks {

/// Options of the ways on which values travel to devices and back.
struct DeviceWorkerOptions {
  std::string transport = "auto";
  /// The longest that a stage may take, or 50 times what the one before took if that is longer.
  std::chrono::milliseconds timeout{30'000};
};

/// Makes the workers of a device of the cluster. Each has copies of its own of what it loads, so
/// that they compute at the same time; of more than `cores` workers some share them. Cluster and
/// transports outlive them; load() is called by the owner of the transports.
///
/// A worker whose link fails, or whose stage takes too long, loses the device: all its workers are
/// lost then, and the device is abandoned in the cluster.
Workers make_device_workers(cluster::Cluster& cluster, cluster::TransportSet& transports,
                            const std::string& device, std::size_t count, std::size_t cores,
                            const DeviceWorkerOptions& options);

}  // namespace pareto::tasks
