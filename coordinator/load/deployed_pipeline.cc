#include "coordinator/load/deployed_pipeline.h"

#include <chrono>
#include <utility>
#include <vector>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/pipeline_health.h"
#include "core/base/process_memory.h"

namespace pareto::load {
namespace {

/// The time limit for connecting to a device that is there; one that is not is asked again soon.
constexpr std::chrono::milliseconds kConnecting{2000};

}  // namespace

Expected<> find_again(const std::vector<std::string>& names, cluster::Cluster& cluster,
                      cluster::ShardPool& pool, DevicesInUse& devices) {
  for (const std::string& name : names) {
    if (!devices.is_given_up(name)) continue;
    // Its client goes with the connection, and another pipeline still has it.
    if (!devices.begin_replacing(name))
      return fail(ErrorCode::kUnavailable, "{}: it is lost", name);
    const auto again = [&]() -> Expected<> {
      PARETO_ASSIGN(cluster::DaemonClient * device, cluster.find(name));
      pool.forget(*device);
      return cluster.reconnect(name, kConnecting);
    }();
    devices.end_replacing(name, again.has_value());
    PARETO_TRY(again);
  }
  return {};
}

class PlanDeployer::Pipeline final : public StreamPipeline {
 public:
  Pipeline(UseOfDevices use, DevicesInUse& devices, std::unique_ptr<cluster::Deployment> deployment)
      : use_(std::move(use)), devices_(devices), deployment_(std::move(deployment)) {}
  ~Pipeline() override {
    deployment_.reset();
    // A stream opens as many pipelines as it loses, and would keep what each of them freed.
    return_freed_memory();
  }

  transport::Link& source() override { return deployment_->source(); }
  transport::Link& sink() override { return deployment_->sink(); }
  std::uint64_t number() const override { return deployment_->pipeline(); }

  std::optional<Error> find_loss(std::chrono::milliseconds patience) override {
    std::vector<cluster::LostStage> lost =
        cluster::find_lost_stages(*deployment_, patience, silent_stages());
    const std::lock_guard lock(mutex_);
    lost_ = std::move(lost);
    if (lost_.empty()) return std::nullopt;
    return error_of(lost_);
  }
  std::string where_requests_wait(std::chrono::milliseconds patience) override {
    return cluster::where_requests_wait(*deployment_, patience);
  }
  void abandon() override {
    const std::lock_guard lock(mutex_);
    for (const cluster::LostStage& stage : lost_) {
      if (!stage.device_is_lost) continue;
      cluster::DaemonClient& device = *deployment_->devices()[stage.stage];
      device.abandon();
      devices_.give_up(device.config().name);
    }
    deployment_->abandon();
  }

 private:
  /// Returns the stages at the other end of the coordinator's links that showed no sign of life;
  /// all replicas if any did not.
  std::vector<std::size_t> silent_stages() {
    const bool at_source = deployment_->source().is_silent();
    const bool at_sink = deployment_->sink().is_silent();
    const std::size_t count = deployment_->devices().size();
    std::vector<std::size_t> stages;
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_first = deployment_->turn() > 1 || i == 0;
      const bool is_last = deployment_->turn() > 1 || i + 1 == count;
      if ((at_source && is_first) || (at_sink && is_last)) stages.push_back(i);
    }
    return stages;
  }

  const UseOfDevices use_;  // first: the deployment ends before it
  DevicesInUse& devices_;
  std::unique_ptr<cluster::Deployment> deployment_;
  std::mutex mutex_;
  std::vector<cluster::LostStage> lost_;  ///< lost stages, as they were last found
};

PlanDeployer::PlanDeployer(plan::Plan plan, cluster::Cluster& cluster, cluster::ShardPool& pool,
                           DevicesInUse& devices, cluster::DeploymentOptions options)
    : plan_(std::move(plan)),
      cluster_(cluster),
      pool_(pool),
      devices_(devices),
      options_(std::move(options)) {}

Expected<std::unique_ptr<StreamPipeline>> PlanDeployer::open() {
  const std::vector<std::string> names = plan_.device_names();
  PARETO_TRY(find_again(names, cluster_, pool_, devices_));
  PARETO_ASSIGN(UseOfDevices use, UseOfDevices::begin(devices_, names));
  // Clients may be newer than the request to hurry.
  if (hurried_) return fail(ErrorCode::kClosed, "nobody waits for the pipeline any more");
  if (opened_) PARETO_TRY(check_devices());
  auto deployment = with_context(
      cluster::Deployment::open(plan_, cluster_, pool_, transports_, options_), "deploying");
  // A device may have been lost meanwhile: the next attempt has to know.
  if (!deployment && !hurried_) static_cast<void>(check_devices());
  PARETO_TRY(deployment);
  opened_ = true;
  return std::make_unique<Pipeline>(std::move(use), devices_, *std::move(deployment));
}

void PlanDeployer::hurry() {
  hurried_ = true;
  cluster_.abandon(plan_.device_names());
}

Expected<> PlanDeployer::check_devices() {
  for (const std::string& name : plan_.device_names()) {
    PARETO_ASSIGN(cluster::DaemonClient * device, cluster_.find(name));
    if (auto status = device->status(kConnecting); !status) {
      device->abandon();
      devices_.give_up(name);
      return tl::unexpected(std::move(status).error());
    }
  }
  return {};
}

}  // namespace pareto::load
