#include "coordinator/failover/failover_opener.h"

#include <chrono>
#include <utility>

#include "coordinator/cluster/daemon_client.h"

namespace pareto::failover {
namespace {

/// The time limit for a device to answer; one that is there does so at once.
constexpr std::chrono::milliseconds kAnswering{1000};

}  // namespace

FailoverOpener::FailoverOpener(const plan::Plan& plan, const Replanner& replanner,
                               cluster::Cluster& cluster, cluster::ShardPool& pool,
                               load::DevicesInUse& devices, Deploy deploy, Announce announce)
    : replanner_(replanner),
      cluster_(cluster),
      pool_(pool),
      devices_(devices),
      deploy_(std::move(deploy)),
      announce_(std::move(announce)),
      deployer_(deploy_(plan)) {}

Expected<std::unique_ptr<load::StreamPipeline>> FailoverOpener::open() {
  auto pipeline = deployer_->open();
  if (pipeline || !opened_ || hurried_) {
    opened_ = opened_ || pipeline.has_value();
    return pipeline;
  }
  const std::set<std::string> lost = lost_devices();
  // Something else is wrong, and would be with another plan.
  if (lost.empty()) return pipeline;
  auto plan = replanner_.without(lost);
  if (!plan) {
    return fail(pipeline.error().code, "{}; planning without it: {}", pipeline.error().message,
                plan.error().message);
  }
  {
    const std::lock_guard lock(mutex_);
    deployer_ = deploy_(*plan);
  }
  if (hurried_) return pipeline;
  announce_(*plan, lost);
  return deployer_->open();
}

void FailoverOpener::hurry() {
  hurried_ = true;
  const std::shared_ptr<load::PlanDeployer> deployer = [this] {
    const std::lock_guard lock(mutex_);
    return deployer_;
  }();
  deployer->hurry();
}

std::set<std::string> FailoverOpener::lost_devices() {
  std::set<std::string> lost;
  for (std::size_t i = 0; i < cluster_.size() && !hurried_; ++i) {
    cluster::DaemonClient& device = cluster_.device(i);
    if (device.status(kAnswering)) continue;
    // It may be back, or have forgotten what was there before.
    const std::string name = device.config().name;
    device.abandon();
    pool_.forget(device);
    if (cluster_.reconnect(name, kAnswering)) {
      devices_.take_back(name);
    } else {
      devices_.give_up(name);
      lost.insert(name);
    }
  }
  return lost;
}

}  // namespace pareto::failover
