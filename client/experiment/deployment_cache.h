// Pipelines kept open between the rounds of a sweep, so that connections stay warm; the least recently used are closed
// where devices have no room for the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "client/cluster/cluster.h"
#include "client/cluster/deployment.h"
#include "client/cluster/shard_pool.h"
#include "client/cluster/transport_set.h"
#include "core/base/error.h"
#include "core/plan/plan.h"

namespace pareto::client {

/// Threads: one owner.
class DeploymentCache {
 public:
  /// Two descriptors here and a few threads on each device are what an open pipeline costs.
  static constexpr std::size_t kMostOpen = 128;

  DeploymentCache(const Cluster& cluster, ShardPool& pool, TransportSet::Factory make_transport,
                  DeploymentOptions options)
      : cluster_(cluster),
        pool_(pool),
        transports_(std::move(make_transport)),
        options_(std::move(options)) {}

  struct Lease {
    Deployment* deployment = nullptr;  ///< valid until the next get() or drop()
    bool fresh = false;                ///< it was opened just now
  };
  /// The open deployment of that key, or a new one of the plan. Fails: as Deployment::open.
  Expected<Lease> get(std::size_t key, const Plan& plan);
  void drop(std::size_t key) { open_.erase(key); }

 private:
  struct Entry {
    std::unique_ptr<Deployment> deployment;
    std::uint64_t last_used = 0;
  };
  bool drop_oldest();

  const Cluster& cluster_;
  ShardPool& pool_;
  TransportSet transports_;
  const DeploymentOptions options_;
  std::map<std::size_t, Entry> open_;
  std::uint64_t clock_ = 0;
};

}  // namespace pareto::client
