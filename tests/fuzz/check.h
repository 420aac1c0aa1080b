// Ends a fuzzer if something does not hold.
#pragma once

#include <cstdlib>

namespace pareto::fuzz {

/// Ends the process, which a fuzzer reports as a finding, unless the condition holds.
inline void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace pareto::fuzz
