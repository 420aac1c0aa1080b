// A share that was counted: how far the true one may lie from it.
#pragma once

#include <cstdint>

#include "coordinator/results/record.h"

namespace pareto::statistics {

/// A number of cases that are so, of all that were looked at.
struct Proportion {
  std::int64_t count = 0;  ///< 0 to of
  std::int64_t of = 0;
  /// Returns the share; 0 of none.
  double share() const { return of > 0 ? static_cast<double>(count) / static_cast<double>(of) : 0; }
};

/// Returns the exact 95 % interval of the true share (Clopper and Pearson, 1934): cases are taken
/// for independent. It holds the truth at least as often as it says. 0 to 1 of no cases.
results::Interval exact_interval(const Proportion& proportion);

}  // namespace pareto::statistics
