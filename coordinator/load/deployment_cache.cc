#include "coordinator/load/deployment_cache.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "coordinator/cluster/daemon_client.h"

namespace pareto::load {

Expected<DeploymentCache::Lease> DeploymentCache::get(std::size_t key, const plan::Plan& plan,
                                                      const std::string& condition) {
  if (const auto found = open_.find(key); found != open_.end()) {
    found->second.last_used = ++clock_;
    return Lease{found->second.deployment.get(), false};
  }
  if (cluster::Deployment* const changed = take_over(key, plan, condition))
    return Lease{changed, false};
  if (open_.size() >= kMostOpen) drop_oldest();
  for (;;) {
    auto deployment = cluster::Deployment::open(plan, cluster_, pool_, transports_, options_);
    if (deployment) {
      cluster::Deployment* const opened = deployment->get();
      open_[key] = {*std::move(deployment), ++clock_, condition};
      return Lease{opened, true};
    }
    // Another pipeline's shards may be what fills the device.
    if (deployment.error().code == ErrorCode::kExhausted && drop_oldest()) continue;
    return tl::unexpected(std::move(deployment).error());
  }
}

void DeploymentCache::abandon(const std::string& device) {
  std::erase_if(open_, [&](auto& entry) {
    cluster::Deployment& deployment = *entry.second.deployment;
    const bool uses = std::ranges::any_of(
        deployment.devices(), [&](const auto* one) { return one->config().name == device; });
    if (uses) deployment.abandon();
    return uses;
  });
}

cluster::Deployment* DeploymentCache::take_over(std::size_t key, const plan::Plan& plan,
                                                const std::string& condition) {
  std::vector<std::size_t> candidates;
  for (const auto& [other, entry] : open_) {
    const bool slow = entry.deployment->linking() > slow_opening_;
    if (slow && entry.condition == condition) candidates.push_back(other);
  }
  for (const std::size_t candidate : candidates) {
    const auto found = open_.find(candidate);
    if (found == open_.end()) continue;
    auto changed = found->second.deployment->change_to(plan, pool_);
    while (!changed && found->second.deployment->is_usable() &&
           changed.error().code == ErrorCode::kExhausted && drop_oldest(candidate)) {
      changed = found->second.deployment->change_to(plan, pool_);
    }
    if (changed && !*changed) continue;
    if (changed) {
      Entries::node_type node = open_.extract(found);
      node.key() = key;
      node.mapped().last_used = ++clock_;
      return open_.insert(std::move(node)).position->second.deployment.get();
    }
    // What its devices lack, they lack for all other pipelines, too.
    if (found->second.deployment->is_usable()) return nullptr;
    // Its connections are not warm enough; those that will be are so for its own plans as well.
    open_.erase(found);
  }
  return nullptr;
}

bool DeploymentCache::drop_oldest(std::optional<std::size_t> keep) {
  auto oldest = open_.end();
  for (auto open = open_.begin(); open != open_.end(); ++open) {
    if (open->first == keep) continue;
    if (oldest == open_.end() || open->second.last_used < oldest->second.last_used) oldest = open;
  }
  if (oldest == open_.end()) return false;
  open_.erase(oldest);
  return true;
}

}  // namespace pareto::load
