// Keeps pipelines open between the rounds of a sweep, so that connections stay warm. The least
// recently used are closed if devices have no room for the next one. If connections take long to
// open, one pipeline runs all plans that its connections fit, one after the other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_set.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/plan.h"

namespace pareto::load {

/// Pipelines that are open, by the plans that they run.
///
/// Threads: one owner.
class DeploymentCache {
 public:
  /// The most pipelines that are open. Each costs two descriptors here and a few threads on each
  /// device.
  static constexpr std::size_t kMostOpen = 128;

  /// The time of connecting and priming from which on the next plan takes a pipeline over; below it
  /// each plan keeps its own.
  static constexpr std::chrono::milliseconds kSlowOpening{50};

  DeploymentCache(const cluster::Cluster& cluster, cluster::ShardPool& pool,
                  cluster::TransportSet::Factory make_transport, cluster::DeploymentOptions options,
                  Nanoseconds slow_opening = kSlowOpening)
      : cluster_(cluster),
        pool_(pool),
        transports_(std::move(make_transport)),
        options_(std::move(options)),
        slow_opening_(slow_opening) {}

  struct Lease {
    cluster::Deployment* deployment = nullptr;  ///< valid until the next get() or drop()
    bool opened = false;                        ///< its connections are new
  };
  /// Returns the open deployment of that key. Else returns one opened under the same network
  /// condition ("" is one too), which runs this plan from now on. Else returns a new one. Fails: as
  /// Deployment::open.
  Expected<Lease> get(std::size_t key, const plan::Plan& plan, const std::string& condition = "");
  void drop(std::size_t key) { open_.erase(key); }
  /// Closes the pipelines of a lost device, without waiting for any peer that hangs.
  void abandon(const std::string& device);

 private:
  struct Entry {
    std::unique_ptr<cluster::Deployment> deployment;
    std::uint64_t last_used = 0;
    std::string condition;  ///< condition that its connections have adapted to
  };
  using Entries = std::map<std::size_t, Entry>;
  /// Returns the deployment of the entry that runs the plan now; null if there is none that could.
  cluster::Deployment* take_over(std::size_t key, const plan::Plan& plan,
                                 const std::string& condition);
  /// Drops the least recently used one, but not that of `keep`. False: there is none.
  bool drop_oldest(std::optional<std::size_t> keep = std::nullopt);

  const cluster::Cluster& cluster_;
  cluster::ShardPool& pool_;
  cluster::TransportSet transports_;
  const cluster::DeploymentOptions options_;
  const Nanoseconds slow_opening_;
  Entries open_;
  std::uint64_t clock_ = 0;
};

}  // namespace pareto::load
