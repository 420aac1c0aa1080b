// What a stage takes for each message beyond its shard and its links: threads that wake each other, processors that wake up, caches that
// others have used meanwhile.
#pragma once

#include "client/cluster/cluster.h"
#include "client/cluster/shard_pool.h"
#include "client/cluster/transport_set.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/tensor/value.h"

namespace pareto::client {

/// The median latency of the plan's requests, one at a time, less what is predicted of them, for each of its stages; never less than
/// nothing. Fails: as Deployment::open and Load::run do.
Expected<Nanoseconds> measure_overhead(const Plan& plan, Nanoseconds predicted,
                                       const Value& request, const Cluster& cluster,
                                       ShardPool& pool, TransportSet& transports);

}  // namespace pareto::client
