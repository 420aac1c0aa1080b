#include "coordinator/load/deployed_pipeline.h"

#include <chrono>
#include <utility>
#include <vector>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/pipeline_health.h"

namespace pareto::load {
namespace {

/// The time limit for connecting to a device that is there; one that is not is asked again soon.
constexpr std::chrono::milliseconds kConnecting{2000};

}  // namespace

class PlanDeployer::Pipeline final : public StreamPipeline {
 public:
  Pipeline(PlanDeployer& deployer, std::unique_ptr<cluster::Deployment> deployment)
      : deployer_(deployer), deployment_(std::move(deployment)) {}

  transport::Link& source() override { return deployment_->source(); }
  transport::Link& sink() override { return deployment_->sink(); }
  std::uint64_t number() const override { return deployment_->pipeline(); }

  std::optional<Error> find_loss(std::chrono::milliseconds patience) override {
    lost_ = cluster::find_lost_stages(*deployment_, patience);
    if (lost_.empty()) return std::nullopt;
    return error_of(lost_);
  }
  std::string where_requests_wait(std::chrono::milliseconds patience) override {
    return cluster::where_requests_wait(*deployment_, patience);
  }
  void abandon() override {
    for (const cluster::LostStage& stage : lost_) {
      if (!stage.device_is_lost) continue;
      cluster::DaemonClient& device = *deployment_->devices()[stage.stage];
      device.abandon();
      deployer_.lost_.insert(device.config().name);
    }
    deployment_->abandon();
  }

 private:
  PlanDeployer& deployer_;
  const std::unique_ptr<cluster::Deployment> deployment_;
  std::vector<cluster::LostStage> lost_;  ///< lost stages, as they were last found
};

PlanDeployer::PlanDeployer(plan::Plan plan, cluster::Cluster& cluster, cluster::ShardPool& pool,
                           cluster::TransportSet& transports, cluster::DeploymentOptions options)
    : plan_(std::move(plan)),
      cluster_(cluster),
      pool_(pool),
      transports_(transports),
      options_(std::move(options)) {}

Expected<std::unique_ptr<StreamPipeline>> PlanDeployer::open() {
  if (opened_) {
    PARETO_TRY(find_lost_devices_again());
    PARETO_TRY(check_devices());
  }
  auto deployment = with_context(
      cluster::Deployment::open(plan_, cluster_, pool_, transports_, options_), "deploying");
  // A device may have been lost meanwhile: the next attempt has to know.
  if (!deployment && opened_) static_cast<void>(check_devices());
  PARETO_TRY(deployment);
  opened_ = true;
  return std::make_unique<Pipeline>(*this, *std::move(deployment));
}

void PlanDeployer::hurry() {
  hurried_ = true;
  cluster_.abandon(plan_.device_names());
}

Expected<> PlanDeployer::find_lost_devices_again() {
  while (!lost_.empty()) {
    const std::string name = *lost_.begin();
    PARETO_ASSIGN(cluster::DaemonClient * device, cluster_.find(name));
    pool_.forget(*device);
    PARETO_TRY(cluster_.reconnect(name, kConnecting));
    lost_.erase(name);
    // Its client may be newer than the request to hurry.
    if (hurried_) return fail(ErrorCode::kClosed, "{}: it is not waited for any more", name);
  }
  return {};
}

Expected<> PlanDeployer::check_devices() {
  for (const std::string& name : plan_.device_names()) {
    PARETO_ASSIGN(cluster::DaemonClient * device, cluster_.find(name));
    if (auto status = device->status(kConnecting); !status) {
      device->abandon();
      lost_.insert(name);
      return tl::unexpected(std::move(status).error());
    }
  }
  return {};
}

}  // namespace pareto::load
