#include "coordinator/sweep/lost_devices.h"

#include <utility>

#include "coordinator/cluster/daemon_client.h"

namespace pareto::sweep {

bool may_mean_loss(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout ||
         code == ErrorCode::kClosed || code == ErrorCode::kInternal;
}

void LostDevices::look_for(const plan::Plan& plan, ErrorCode code) {
  if (!may_mean_loss(code)) return;
  for (const plan::StagePlan& stage : plan.stages) {
    const auto device = cluster_.find(stage.device);
    if (!device) continue;
    if (auto status = (*device)->status(kProbeTimeout); !status) {
      lost_.emplace(stage.device, std::move(status).error());
    }
  }
}

const Error* LostDevices::loss_of(const plan::Plan& plan) const {
  for (const plan::StagePlan& stage : plan.stages) {
    if (const auto lost = lost_.find(stage.device); lost != lost_.end()) return &lost->second;
  }
  return nullptr;
}

}  // namespace pareto::sweep
