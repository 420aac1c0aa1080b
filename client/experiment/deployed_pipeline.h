// The pipelines of a lasting stream on real devices: a plan deployed, and deployed again once lost devices are back.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "client/cluster/cluster.h"
#include "client/cluster/deployment.h"
#include "client/cluster/shard_pool.h"
#include "client/cluster/transport_set.h"
#include "client/experiment/lasting_stream.h"
#include "core/plan/plan.h"

namespace pareto::client {

/// Opens pipelines of a plan on the devices of a cluster. Devices that were lost are connected to
/// again; those that were not keep their shards.
///
/// Threads: one owner.
class PlanDeployer final : public PipelineOpener {
 public:
  /// A plan whose transports are named. Cluster, pool and transports outlive it.
  PlanDeployer(Plan plan, Cluster& cluster, ShardPool& pool, TransportSet& transports,
               DeploymentOptions options);

  Expected<std::unique_ptr<StreamPipeline>> open() override;
  void hurry() override;

 private:
  class Pipeline;
  /// Connects to those that were lost. Fails: as Cluster::reconnect().
  Expected<> find_lost_devices_again();
  /// Whether all other devices answer. Fails: as DaemonClient::status(); the device is lost then.
  Expected<> check_devices();

  const Plan plan_;
  Cluster& cluster_;
  ShardPool& pool_;
  TransportSet& transports_;
  const DeploymentOptions options_;
  std::set<std::string> lost_;  ///< names of devices whose clients were abandoned
  bool opened_ = false;
};

}  // namespace pareto::client
