// Bounds of what a coordinator asks of a stage.
#pragma once

#include "core/base/error.h"
#include "core/control/stage_request.h"

namespace pareto::daemon {

/// Checks queue, weight and priority. Fails: kInvalidArgument.
Expected<> check_request(const control::StageRequest& asked);

}  // namespace pareto::daemon
