// How deeply the values of a TorchScript archive nest. LibTorch frees a value inside a value by a call inside a call, and parses types
// the same way: either ends the process when the stack is used up.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/error.h"

namespace pareto::runtime {

/// A module inside a module adds three; several times what models have.
inline constexpr std::size_t kDeepestValue = 2000;

/// Checks, without making them, that the values of a pickle nest no deeper than kDeepestValue, and that the types written in it nest no
/// deeper than code may. Fails: kCorrupt. Instructions that LibTorch does not know end the check: it refuses them.
Expected<> check_value_nesting(std::string_view pickle);

}  // namespace pareto::runtime
