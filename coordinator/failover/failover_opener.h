// The pipelines of a lasting stream that goes on without devices that were lost.
//
//   open() ──all there──▶ the plan's pipeline
//       └──a device is lost──▶ plan again without it ──▶ another plan ──▶ its pipeline
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/load/devices_in_use.h"
#include "coordinator/load/stream_pipeline.h"
#include "core/plan/plan.h"

namespace pareto::failover {

/// Opens the pipelines of a plan as its own opener does. If a device of it is lost, it opens
/// those of the plan that is best without it. A device that was found to be lost is not waited for:
/// it has half a second to be connected to again. A device that is back is used again only when the
/// next one is lost: to change plans costs the requests on their way time.
///
/// Threads: one owner, but for hurry().
class FailoverOpener final : public load::PipelineOpener {
 public:
  /// Makes the opener of a plan's pipelines. It gives up devices that it finds to be lost.
  using Deploy = std::function<std::unique_ptr<load::PipelineOpener>(const plan::Plan&)>;
  /// Plans again, as Replanner::without() does.
  using PlanWithout = std::function<Expected<plan::Plan>(const std::set<std::string>& lost)>;
  /// Hears of a plan that takes over, and of the devices that are lost.
  using Announce = std::function<void(const plan::Plan&, const std::set<std::string>& lost)>;

  /// `others`: the devices that may take over. Cluster, pool and `devices` outlive it.
  FailoverOpener(const plan::Plan& plan, const std::vector<std::string>& others,
                 PlanWithout plan_without, cluster::Cluster& cluster, cluster::ShardPool& pool,
                 load::DevicesInUse& devices, Deploy deploy, Announce announce);

  Expected<std::unique_ptr<load::StreamPipeline>> open() override;
  void release_unused() override { pool_.unload_unused(); }
  void hurry() override;

 private:
  /// Asks all candidates at once, and connects to those again that do not answer or were given up
  /// before. Returns those that are given up still.
  std::set<std::string> lost_devices();
  /// Asks a device, and gives it up if it is not there.
  void ask(const std::string& name);
  /// Returns whether the plan that is deployed uses one of these.
  bool is_needed(const std::set<std::string>& lost) const;

  const PlanWithout plan_without_;
  cluster::Cluster& cluster_;
  cluster::ShardPool& pool_;
  load::DevicesInUse& devices_;
  const Deploy deploy_;
  const Announce announce_;
  std::vector<std::string> plan_devices_;  ///< devices of the deployer's plan
  std::set<std::string> candidates_;       ///< devices that plans may use
  std::shared_ptr<load::PipelineOpener> deployer_;
  std::mutex mutex_;  ///< guards deployer_ against hurry()
  std::atomic<bool> hurried_{false};
  bool opened_ = false;
};

}  // namespace pareto::failover
