// What is said of a stream that is given up because its pipeline stays lost.
#pragma once

#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::load {

/// Returns the sentence about a loss with what came of waiting. `last`: why the last attempt to
/// open a pipeline failed; no value: there was none. `stopped`: somebody wanted to stop meanwhile.
std::string given_up_text(const std::string& loss, const std::optional<Error>& last, bool stopped,
                          Nanoseconds retry);

}  // namespace pareto::load
