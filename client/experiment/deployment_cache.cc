#include "client/experiment/deployment_cache.h"

#include <algorithm>

namespace pareto::client {

Expected<DeploymentCache::Lease> DeploymentCache::get(std::size_t key, const Plan& plan) {
  if (const auto found = open_.find(key); found != open_.end()) {
    found->second.last_used = ++clock_;
    return Lease{found->second.deployment.get(), false};
  }
  if (open_.size() >= kMostOpen) drop_oldest();
  for (;;) {
    auto deployment = Deployment::open(plan, cluster_, pool_, transports_, options_);
    if (deployment) {
      Deployment* const opened = deployment->get();
      open_[key] = {*std::move(deployment), ++clock_};
      return Lease{opened, true};
    }
    // Another pipeline's shards may be what fills the device.
    if (deployment.error().code == ErrorCode::kExhausted && drop_oldest()) continue;
    return tl::unexpected(std::move(deployment).error());
  }
}

bool DeploymentCache::drop_oldest() {
  const auto oldest =
      std::ranges::min_element(open_, {}, [](const auto& entry) { return entry.second.last_used; });
  if (oldest == open_.end()) return false;
  open_.erase(oldest);
  return true;
}

}  // namespace pareto::client
