// The pipelines of a lasting stream on real devices: a plan deployed, and deployed again once lost
// devices are back.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_set.h"
#include "coordinator/load/lasting_stream.h"
#include "core/plan/plan.h"

namespace pareto::load {

/// Opens pipelines of a plan on the devices of a cluster. Devices that were lost are connected to
/// again; those that were not keep their shards.
///
/// Threads: one owner, but for hurry().
class PlanDeployer final : public PipelineOpener {
 public:
  /// A plan whose transports are named. Cluster, pool and transports outlive it.
  PlanDeployer(plan::Plan plan, cluster::Cluster& cluster, cluster::ShardPool& pool,
               cluster::TransportSet& transports, cluster::DeploymentOptions options);

  Expected<std::unique_ptr<StreamPipeline>> open() override;
  void hurry() override;

 private:
  class Pipeline;
  /// Connects to those that were lost. Fails: as Cluster::reconnect().
  Expected<> find_lost_devices_again();
  /// Checks that all other devices answer. Fails: as DaemonClient::status(); the device is lost
  /// then.
  Expected<> check_devices();

  const plan::Plan plan_;
  cluster::Cluster& cluster_;
  cluster::ShardPool& pool_;
  cluster::TransportSet& transports_;
  const cluster::DeploymentOptions options_;
  std::set<std::string> lost_;  ///< names of devices whose clients were abandoned
  bool opened_ = false;
  std::atomic<bool> hurried_{false};
};

}  // namespace pareto::load
