#include "coordinator/failover/failover_opener.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "coordinator/cluster/daemon_client.h"

namespace pareto::failover {
namespace {

/// The time limit for a device to answer; one that is there does so at once.
constexpr std::chrono::milliseconds kAnswering{1000};
/// The time limit for a device that was lost to be connected to again. The requests wait for it; if
/// it comes back later, the next loss finds it.
constexpr std::chrono::milliseconds kBack{500};

}  // namespace

FailoverOpener::FailoverOpener(const plan::Plan& plan, const std::vector<std::string>& others,
                               PlanWithout plan_without, cluster::Cluster& cluster,
                               cluster::ShardPool& pool, load::DevicesInUse& devices, Deploy deploy,
                               Announce announce)
    : plan_without_(std::move(plan_without)),
      cluster_(cluster),
      pool_(pool),
      devices_(devices),
      deploy_(std::move(deploy)),
      announce_(std::move(announce)),
      plan_devices_(plan.device_names()),
      candidates_(plan_devices_.begin(), plan_devices_.end()),
      deployer_(deploy_(plan)) {
  candidates_.insert(others.begin(), others.end());
}

Expected<std::unique_ptr<load::StreamPipeline>> FailoverOpener::open() {
  // The deployer would wait for what is lost longer than a plan without it takes.
  const bool lacks_some = std::ranges::any_of(
      plan_devices_, [this](const std::string& name) { return devices_.is_given_up(name); });
  const Error known{ErrorCode::kUnavailable, "a device of the plan is lost"};
  auto pipeline = opened_ && lacks_some ? tl::unexpected(known) : deployer_->open();
  if (pipeline || !opened_ || hurried_) {
    opened_ = opened_ || pipeline.has_value();
    return pipeline;
  }
  const std::set<std::string> lost = lost_devices();
  if (hurried_) return pipeline;
  if (!is_needed(lost)) {
    // Those that were lost are back. If none was, something else is wrong, and would be with
    // another plan.
    return lacks_some ? deployer_->open() : std::move(pipeline);
  }
  auto plan = plan_without_(lost);
  if (!plan) {
    return fail(pipeline.error().code, "{}; planning without {}: {}", pipeline.error().message,
                fmt::join(lost, ", "), plan.error().message);
  }
  plan_devices_ = plan->device_names();
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
  const std::shared_ptr<load::PipelineOpener> deployer = [this] {
    const std::lock_guard lock(mutex_);
    return deployer_;
  }();
  deployer->hurry();
}

bool FailoverOpener::is_needed(const std::set<std::string>& lost) const {
  return std::ranges::any_of(plan_devices_,
                             [&](const std::string& name) { return lost.contains(name); });
}

std::set<std::string> FailoverOpener::lost_devices() {
  std::vector<std::jthread> asking;
  for (const std::string& name : candidates_) {
    asking.emplace_back([this, &name] {
      if (!hurried_) ask(name);
    });
  }
  asking.clear();
  std::set<std::string> lost = devices_.given_up();
  std::erase_if(lost, [this](const std::string& name) { return !candidates_.contains(name); });
  return lost;
}

void FailoverOpener::ask(const std::string& name) {
  {
    const auto use = load::UseOfDevices::begin(devices_, {name});
    const auto device = cluster_.find(name);
    if (use && device) {
      if ((*device)->status(kAnswering)) return;
      (*device)->abandon();
    }
    devices_.give_up(name);
  }
  // It may be back, or have forgotten what was there before.
  if (hurried_ || !devices_.begin_replacing(name)) return;
  const auto device = cluster_.find(name);
  if (device) pool_.forget(**device);
  devices_.end_replacing(name, device && cluster_.reconnect(name, kBack));
}

}  // namespace pareto::failover
