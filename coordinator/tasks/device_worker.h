// A worker on another device: stages that run there by a daemon, each a pipeline of one stage.
//
//   run(stage, values) ══ link ══▶ [ the stage on its device ] ══ link ══▶ values
//
// What goes from one device to another passes this process, so that any worker may run any stage.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/transport_set.h"
#include "coordinator/tasks/worker.h"

namespace pareto::tasks {

/// How stages run on devices.
struct DeviceWorkerOptions {
  std::string transport = "auto";             ///< transport of values
  std::chrono::milliseconds timeout{30'000};  ///< the longest that a stage may take
};

/// Makes a worker of a device of the cluster. Cluster and transports outlive it; load() is called
/// by the owner of the transports. A stage that fails by its link, or that takes too long, loses
/// the worker.
std::unique_ptr<Worker> make_device_worker(cluster::Cluster& cluster,
                                           cluster::TransportSet& transports,
                                           const std::string& device,
                                           const DeviceWorkerOptions& options);

}  // namespace pareto::tasks
