// The pipelines of a lasting stream on real devices: a plan deployed, and deployed again once lost
// devices are back. While the stream changes its plan, two deployers have a pipeline each.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_set.h"
#include "coordinator/load/stream_pipeline.h"
#include "core/plan/plan.h"

namespace pareto::load {

/// The devices that the pipelines of a stream use, and those whose clients were given up because
/// they were lost. All deployers of a stream share it.
///
/// Threads: any.
class DevicesInUse {
 public:
  void use(const std::vector<std::string>& devices);
  void leave(const std::vector<std::string>& devices);
  void give_up(const std::string& device);
  void take_back(const std::string& device);
  bool is_used(const std::string& device) const;
  bool is_given_up(const std::string& device) const;
  std::set<std::string> given_up() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> pipelines_;  ///< how many use each
  std::set<std::string> given_up_;
};

/// Opens pipelines of a plan on the devices of a cluster. Devices that were lost are connected to
/// again; those that were not keep their shards.
///
/// Threads: one owner, but for hurry().
class PlanDeployer final : public PipelineOpener {
 public:
  /// A plan whose transports are named. Cluster, pool, transports and `devices` outlive it.
  PlanDeployer(plan::Plan plan, cluster::Cluster& cluster, cluster::ShardPool& pool,
               cluster::TransportSet& transports, DevicesInUse& devices,
               cluster::DeploymentOptions options);

  /// Fails: as devices and links do; kUnavailable (a device that was lost with another pipeline,
  /// which has not ended).
  Expected<std::unique_ptr<StreamPipeline>> open() override;
  /// Unloads the shards that no pipeline runs.
  void release_unused() override { pool_.unload_unused(); }
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
  DevicesInUse& devices_;
  const cluster::DeploymentOptions options_;
  bool opened_ = false;
  std::atomic<bool> hurried_{false};
};

}  // namespace pareto::load
