// Measures how deeply the code of a TorchScript archive nests. LibTorch's parser calls itself for
// every level, and ends the process when its stack is used up.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/error.h"

namespace pareto::runtime {

/// The code that LibTorch writes nests a few dozen levels; a thread's stack bears several times
/// this.
inline constexpr std::size_t kDeepestCode = 500;

/// Checks, in one pass, that no statement nests deeper than kDeepestCode. Blocks count by their
/// indentation. An expression counts by its open brackets, and by the tokens that no comma
/// separates: `a.b.c` and `not not x` nest as well.
/// Fails: kCorrupt, with the line.
Expected<> check_nesting(std::string_view code);

}  // namespace pareto::runtime
