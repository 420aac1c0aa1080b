// What is said of a pipeline that lost a request.
#pragma once

#include <optional>

#include "core/base/error.h"

namespace pareto::client {

/// Why a pipeline broke, of what failed at its two ends, at least one of them: who fails first closes the other end, which then fails too.
Error why_broken(std::optional<Error> sending, std::optional<Error> receiving);

}  // namespace pareto::client
