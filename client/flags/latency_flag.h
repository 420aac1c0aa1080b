// --max-latency of several commands.
#pragma once

#include <string>

#include "core/base/error.h"

namespace pareto::client {

/// Returns the latency in ms. Fails: kInvalidArgument if it is no duration, or not above 0. The
/// remedy takes a number without a unit for ms: nobody limits a latency to that many seconds.
Expected<double> parse_max_latency(const std::string& text);

}  // namespace pareto::client
