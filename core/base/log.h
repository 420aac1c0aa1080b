// Logging for the programs: one logger to stderr, levels by name. Libraries below daemon/ and client/ do not log, they return errors.
#pragma once

#include <string_view>

#include "core/base/error.h"

namespace pareto {

/// "trace", "debug", "info", "warn", "error", "off". Sets spdlog's default logger to stderr, with `program` before each line;
/// may be called again to change the level. Fails: kInvalidArgument naming the levels.
Expected<> set_up_logging(std::string_view program, std::string_view level);

}  // namespace pareto
