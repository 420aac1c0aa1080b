// Loads the shards of a sweep before anything is measured: devices at the same time, each its own
// in order.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/shard_pool.h"
#include "core/base/error.h"
#include "core/plan/plan.h"

namespace pareto::load {

/// Loads shards until a device's memory is full. Shards beyond that, and those whose loading
/// failed, are left to the deployment that needs them, which then says why. Calls on_progress from
/// the calling thread, with the number of shards done and the total. Returns the errors that ended
/// the loading on devices, by the devices' names.
std::map<std::string, Error> preload_shards(
    const std::vector<plan::Plan>& plans, const cluster::Cluster& cluster, cluster::ShardPool& pool,
    const std::atomic<bool>& stop,
    const std::function<void(std::size_t done, std::size_t total)>& on_progress);

}  // namespace pareto::load
