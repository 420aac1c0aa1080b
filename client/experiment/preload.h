// Loads the shards of a sweep before anything is measured: devices at the same time, each its own in order.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "client/cluster/cluster.h"
#include "client/cluster/shard_pool.h"
#include "core/plan/plan.h"

namespace pareto::client {

/// Loads until a device's memory is full; the shards beyond that, and those whose loading failed, are left to the deployment that
/// needs them (which then says why). on_progress: from the calling thread, with how many of how many are done.
void preload_shards(const std::vector<Plan>& plans, const Cluster& cluster, ShardPool& pool,
                    const std::atomic<bool>& stop,
                    const std::function<void(std::size_t done, std::size_t total)>& on_progress);

}  // namespace pareto::client
