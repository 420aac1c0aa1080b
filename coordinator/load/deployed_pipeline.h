// The pipelines of a lasting stream on real devices: a plan deployed, and deployed again once lost
// devices are back. While the stream changes its plan, two deployers have a pipeline each.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_set.h"
#include "coordinator/load/devices_in_use.h"
#include "coordinator/load/stream_pipeline.h"
#include "core/plan/plan.h"

namespace pareto::load {

/// Connects to those of these devices again that were given up. Fails: as Cluster::reconnect();
/// kUnavailable (a device that is still used, by a pipeline that has not ended).
Expected<> find_again(const std::vector<std::string>& names, cluster::Cluster& cluster,
                      cluster::ShardPool& pool, DevicesInUse& devices);

/// Opens pipelines of a plan on the devices of a cluster. Devices that were lost are connected to
/// again; those that were not keep their shards. Another deployer may open a pipeline on the same
/// devices at the same time.
///
/// Threads: one owner, but for hurry().
class PlanDeployer final : public PipelineOpener {
 public:
  /// A plan whose transports are named. Cluster, pool and `devices` outlive it and its pipelines.
  PlanDeployer(plan::Plan plan, cluster::Cluster& cluster, cluster::ShardPool& pool,
               DevicesInUse& devices, cluster::DeploymentOptions options);

  /// Deploys the plan, after it has looked again for devices that were lost. Fails: as devices and
  /// links do; kUnavailable (a device that was lost with another pipeline, which has not ended).
  Expected<std::unique_ptr<StreamPipeline>> open() override;
  /// Unloads the shards that no pipeline runs.
  void release_unused() override { pool_.unload_unused(); }
  void hurry() override;

 private:
  class Pipeline;
  /// Checks that all other devices answer. Fails: as DaemonClient::status(); the device is lost
  /// then.
  Expected<> check_devices();

  const plan::Plan plan_;
  cluster::Cluster& cluster_;
  cluster::ShardPool& pool_;
  cluster::TransportSet transports_;
  DevicesInUse& devices_;
  const cluster::DeploymentOptions options_;
  bool opened_ = false;
  std::atomic<bool> hurried_{false};
};

}  // namespace pareto::load
