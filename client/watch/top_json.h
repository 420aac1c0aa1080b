// Activity of devices and pipelines, for programs: one line for each interval. Its schema is
// tests/golden/top.schema.json.
#pragma once

#include <string>

#include "client/watch/activity.h"

namespace pareto::watch {

/// Returns one JSON object without a newline. `time`: when the devices were asked (time_text.h).
std::string top_json(const Activity& activity, const std::string& time);

}  // namespace pareto::watch
