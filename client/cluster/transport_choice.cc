#include "client/cluster/transport_choice.h"

#include <algorithm>
#include <optional>

#include "client/cluster/daemon_client.h"
#include "core/base/text.h"
#include "core/transport/transport.h"

namespace pareto::client {

Expected<std::string> nearest_transport(const std::vector<std::string>& devices,
                                        const Cluster& cluster, const transport::Place& here) {
  std::vector<const DeviceInfo*> infos;
  for (const std::string& name : devices) {
    PARETO_ASSIGN(const DaemonClient* device, cluster.find(name));
    infos.push_back(&device->info());
  }
  std::optional<std::string> across;
  for (const auto& transport : transport::builtin_transports()) {
    const std::string name(transport->name());
    const auto within_reach = [&](const DeviceInfo* info) {
      return share_memory(info->place, here) && info->data.contains(name);
    };
    switch (transport->reach()) {
      case transport::Reach::kMachine:
        if (std::ranges::all_of(infos, within_reach)) return name;
        break;
      case transport::Reach::kNetwork:
        if (!across) across = name;
        break;
      case transport::Reach::kProcess:
        break;
    }
  }
  if (across) return *across;
  return fail(ErrorCode::kNotFound, "no transport of this build reaches {}", join(devices));
}

Expected<Plan> with_transport_named(Plan plan, const Cluster& cluster) {
  if (plan.transport != kAutoTransport) return plan;
  std::vector<std::string> devices;
  for (const StagePlan& stage : plan.stages) devices.push_back(stage.device);
  PARETO_ASSIGN(plan.transport, nearest_transport(devices, cluster));
  return plan;
}

}  // namespace pareto::client
