// --max-latency of several commands.
#pragma once

#include <string>

#include "core/base/error.h"

namespace pareto::client {

/// Returns the latency in ms. Fails: kInvalidArgument if it is no duration, or not above 0. A number
/// without a unit is taken for ms in the remedy: nobody limits a latency to that many seconds.
Expected<double> parse_max_latency(const std::string& text);

}  // namespace pareto::client
