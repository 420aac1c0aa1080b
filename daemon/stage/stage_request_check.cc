#include "daemon/stage/stage_request_check.h"

#include "core/plan/stage_settings.h"
#include "daemon/stage/stage_host.h"

namespace pareto::daemon {

Expected<> check_request(const control::StageRequest& asked) {
  if (asked.queue < 1 || asked.queue > StageHost::kMaxQueue) {
    return fail(ErrorCode::kInvalidArgument, "a queue of {}, not 1 to {}", asked.queue,
                StageHost::kMaxQueue);
  }
  if (!(asked.weight >= plan::kLeastWeight && asked.weight <= plan::kMostWeight)) {
    return fail(ErrorCode::kInvalidArgument, "a weight of {}, not {} to {}", asked.weight,
                plan::kLeastWeight, plan::kMostWeight);
  }
  if (asked.priority < -plan::kMostPriority || asked.priority > plan::kMostPriority) {
    return fail(ErrorCode::kInvalidArgument, "a priority of {}, not {} to {}", asked.priority,
                -plan::kMostPriority, plan::kMostPriority);
  }
  return {};
}

}  // namespace pareto::daemon
