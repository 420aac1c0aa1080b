#include "coordinator/profile/known_devices.h"

#include <utility>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/profile/device_profiler.h"

namespace pareto::profile {

Expected<std::vector<std::optional<planning::DeviceFacts>>> known_devices(
    const model::Model& model, const cluster::Cluster& cluster, const plan::Plan& plan,
    results::ResultStore& store) {
  ProfileRequest request;
  request.model = model.name();
  request.model_digest = model.digest().hex();
  request.operators = static_cast<std::int64_t>(model.graph().operators.size());
  request.settings = {plan.settings, plan.batch};
  std::vector<std::optional<planning::DeviceFacts>> devices(cluster.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const cluster::DaemonClient& device = cluster.device(i);
    PARETO_ASSIGN(auto profile, store.find_profile(profile_key(cluster, device, request)));
    if (!profile) continue;
    devices[i] = {*std::move(profile), device.info().memory_limit_bytes, device.config().figures,
                  device.config().medium};
  }
  return devices;
}

Error not_profiled(const cluster::DaemonClient& device, const model::Model& model,
                   const plan::Plan& plan) {
  return {
      ErrorCode::kNotFound,
      fmt::format("{} was not profiled for {} at {} (paretoctl profile measures it)",
                  device.config().name, model.name(), settings_text({plan.settings, plan.batch}))};
}

}  // namespace pareto::profile
