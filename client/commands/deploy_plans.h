// The plans of a running `deploy`, one after the other: how each is opened, and how it changes to
// another one.
//
//   plan ──opener──▶ load::PipelineOpener ──▶ the stream
//   another plan, or other cuts of the one that runs ──change──▶ load::SwitchDesk ──▶ the stream
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "client/command.h"
#include "client/commands/deploy_control.h"
#include "client/commands/deploy_watch.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/plan_file.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/failover/replanner.h"
#include "coordinator/load/deployed_pipeline.h"
#include "coordinator/load/pipeline_switch.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/transport/link_probe.h"
#include "partitioner/model/graph/model.h"

namespace pareto::client::commands {

/// The parts that all plans of a deployment are opened with. They outlive the plans.
struct DeployParts {
  Context& context;
  const model::Model& model;
  cluster::Cluster& cluster;
  cluster::ModelWorkload& workload;
  DeployWatch& watch;
  const failover::Replanner* replanner = nullptr;  ///< null: no plan takes over after a loss
  cluster::DeploymentOptions deploying{};
  double codec_error = 0;
  load::StreamOptions stream{};  ///< but for what follows from a plan
  std::string name{};            ///< name of the deployment
};

/// Sets what of a stream's options follows from a plan. The window, if the plan leaves it open, is
/// a request in every stage and one on its way, to each replica. `may_change`: the plan may change
/// after a loss, so that no stage has a name.
void set_stream(const plan::Plan& plan, bool may_change, load::StreamOptions& stream);
/// Returns "3 stages over tcp, window 4".
std::string describe_plan(const plan::Plan& plan, int window);

/// The plan that `deploy` runs now, and the ways to change it for another.
///
/// Threads: opener() from the owner; changes from any, one after the other; the others from any.
class DeployPlans final : public ControlledDeployment {
 public:
  DeployPlans(DeployParts parts, plan::Plan plan);

  /// Returns what opens the pipelines of the first plan.
  std::unique_ptr<load::PipelineOpener> opener();
  load::SwitchDesk& desk() { return desk_; }
  plan::Plan current() const;
  std::int64_t batch() const { return first_.batch; }
  /// Returns the names of devices that were given up.
  std::set<std::string> lost_devices() const { return devices_.given_up(); }
  /// Probes a way between devices; "" is the coordinator. Threads: any. Fails: kUnavailable (a
  /// device was lost), and as profile::probe_between().
  Expected<transport::ProbeResult> probe(const std::string& from, const std::string& to,
                                         const std::string& transport,
                                         transport::ProbeOptions options,
                                         std::chrono::milliseconds limit);

  /// Changes to a plan of the same model. Returns how that went. Fails: kInvalidArgument (another
  /// batch), as cluster::check_plan(), and as SwitchDesk::ask().
  Expected<load::SwitchReport> change_to(cluster::NamedPlan named);
  /// Returns the plan that runs, cut at other split points, as run --split takes them. Fails:
  /// kInvalidArgument, kNotFound.
  Expected<plan::Plan> with_cuts(const std::string& split) const;

  nlohmann::ordered_json describe() const override;
  Expected<nlohmann::ordered_json> resplit(const nlohmann::json& question) override;

 private:
  class Opener;
  std::unique_ptr<load::PipelineOpener> opener_of(const plan::Plan& plan);
  /// Checks a plan and names its transports. Devices of it that were lost are connected to again.
  /// Threads: any. Fails: as load::find_again() and cluster::check_plan().
  Expected<plan::Plan> ready(cluster::NamedPlan named);
  cluster::CodecChooser& add_codecs();
  void set_current(const plan::Plan& plan);
  /// Returns the plan of the last change that was opened, with its transports named.
  plan::Plan next() const;
  void set_next(const plan::Plan& plan);

  const DeployParts parts_;
  const plan::Plan first_;
  cluster::ShardPool pool_;
  load::DevicesInUse devices_;
  load::SwitchDesk desk_;
  const TimePoint begun_ = std::chrono::steady_clock::now();
  mutable std::mutex mutex_;                  ///< guards the three that follow
  std::deque<cluster::CodecChooser> codecs_;  ///< one for each opener: two may open at a time
  plan::Plan current_;
  plan::Plan next_;
  std::mutex changing_;
};

}  // namespace pareto::client::commands
