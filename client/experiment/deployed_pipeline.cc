#include "client/experiment/deployed_pipeline.h"

#include <chrono>
#include <utility>
#include <vector>

#include "client/cluster/daemon_client.h"
#include "client/cluster/pipeline_health.h"

namespace pareto::client {
namespace {

/// For a device that is there; one that is not is asked again soon.
constexpr std::chrono::milliseconds kConnecting{2000};

}  // namespace

class PlanDeployer::Pipeline final : public StreamPipeline {
 public:
  Pipeline(PlanDeployer& deployer, std::unique_ptr<Deployment> deployment)
      : deployer_(deployer), deployment_(std::move(deployment)) {}

  transport::Link& source() override { return deployment_->source(); }
  transport::Link& sink() override { return deployment_->sink(); }
  std::uint64_t number() const override { return deployment_->pipeline(); }

  std::optional<Error> find_loss(std::chrono::milliseconds patience) override {
    lost_ = find_lost_stages(*deployment_, patience);
    if (lost_.empty()) return std::nullopt;
    return error_of(lost_);
  }
  std::string where_requests_wait(std::chrono::milliseconds patience) override {
    return client::where_requests_wait(*deployment_, patience);
  }
  void abandon() override {
    for (const LostStage& stage : lost_) {
      if (!stage.device_is_lost) continue;
      DaemonClient& device = *deployment_->devices()[stage.stage];
      device.abandon();
      deployer_.lost_.insert(device.config().name);
    }
    deployment_->abandon();
  }

 private:
  PlanDeployer& deployer_;
  const std::unique_ptr<Deployment> deployment_;
  std::vector<LostStage> lost_;  ///< as it was last found
};

PlanDeployer::PlanDeployer(Plan plan, Cluster& cluster, ShardPool& pool, TransportSet& transports,
                           DeploymentOptions options)
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
  auto deployment =
      with_context(Deployment::open(plan_, cluster_, pool_, transports_, options_), "deploying");
  // A device may have been lost meanwhile: the next attempt has to know.
  if (!deployment && opened_) static_cast<void>(check_devices());
  PARETO_TRY(deployment);
  opened_ = true;
  return std::make_unique<Pipeline>(*this, *std::move(deployment));
}

void PlanDeployer::hurry() {
  for (const std::string& name : plan_.device_names()) {
    if (const auto device = cluster_.find(name)) (*device)->abandon();
  }
}

Expected<> PlanDeployer::find_lost_devices_again() {
  while (!lost_.empty()) {
    const std::string name = *lost_.begin();
    PARETO_ASSIGN(DaemonClient * device, cluster_.find(name));
    pool_.forget(*device);
    PARETO_TRY(cluster_.reconnect(name, kConnecting));
    lost_.erase(name);
  }
  return {};
}

Expected<> PlanDeployer::check_devices() {
  for (const std::string& name : plan_.device_names()) {
    PARETO_ASSIGN(DaemonClient * device, cluster_.find(name));
    if (auto status = device->status(kConnecting); !status) {
      device->abandon();
      lost_.insert(name);
      return tl::unexpected(std::move(status).error());
    }
  }
  return {};
}

}  // namespace pareto::client
