#include "client/experiment/deployment_cache.h"

#include <algorithm>

namespace pareto::client {

Expected<DeploymentCache::Lease> DeploymentCache::get(std::size_t key, const Plan& plan,
                                                      const std::string& condition) {
  if (const auto found = open_.find(key); found != open_.end()) {
    found->second.last_used = ++clock_;
    return Lease{found->second.deployment.get(), false};
  }
  if (Deployment* const changed = take_over(key, plan, condition)) return Lease{changed, true};
  if (open_.size() >= kMostOpen) drop_oldest();
  for (;;) {
    const TimePoint began = std::chrono::steady_clock::now();
    auto deployment = Deployment::open(plan, cluster_, pool_, transports_, options_);
    if (deployment) {
      Deployment* const opened = deployment->get();
      open_[key] = {*std::move(deployment), ++clock_, condition,
                    std::chrono::steady_clock::now() - began};
      return Lease{opened, true};
    }
    // Another pipeline's shards may be what fills the device.
    if (deployment.error().code == ErrorCode::kExhausted && drop_oldest()) continue;
    return tl::unexpected(std::move(deployment).error());
  }
}

Deployment* DeploymentCache::take_over(std::size_t key, const Plan& plan,
                                       const std::string& condition) {
  for (auto open = open_.begin(); open != open_.end();) {
    const auto candidate = open++;
    Entry& entry = candidate->second;
    if (entry.opening <= dear_opening_ || entry.condition != condition) continue;
    const auto changed = entry.deployment->change_to(plan, pool_);
    if (changed && !*changed) continue;
    Entries::node_type node = open_.extract(candidate);
    // Closed: its connections are not warm enough, and those that will be are so for this one's plans, too.
    if (!changed) continue;
    node.key() = key;
    node.mapped().last_used = ++clock_;
    return open_.insert(std::move(node)).position->second.deployment.get();
  }
  return nullptr;
}

bool DeploymentCache::drop_oldest() {
  const auto oldest =
      std::ranges::min_element(open_, {}, [](const auto& entry) { return entry.second.last_used; });
  if (oldest == open_.end()) return false;
  open_.erase(oldest);
  return true;
}

}  // namespace pareto::client
