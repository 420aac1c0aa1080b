#include "coordinator/sweep/lost_devices.h"

#include <utility>

#include "coordinator/cluster/daemon_client.h"

namespace pareto::sweep {

bool may_mean_loss(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout ||
         code == ErrorCode::kClosed || code == ErrorCode::kInternal;
}

std::vector<std::string> LostDevices::look_for(const std::vector<std::string>& devices,
                                               ErrorCode code) {
  std::vector<std::string> found;
  if (!may_mean_loss(code)) return found;
  for (const std::string& name : devices) {
    const auto device = cluster_.find(name);
    if (!device || lost_.contains(name)) continue;
    auto status = (*device)->status(kProbeTimeout);
    if (status) continue;
    (*device)->abandon();
    lost_.emplace(name, std::move(status).error());
    found.push_back(name);
  }
  return found;
}

const Error* LostDevices::loss_of(const plan::Plan& plan) const {
  for (const plan::StagePlan& stage : plan.stages) {
    if (const auto lost = lost_.find(stage.device); lost != lost_.end()) return &lost->second;
  }
  return nullptr;
}

}  // namespace pareto::sweep
