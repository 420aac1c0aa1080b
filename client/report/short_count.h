// Counts that may be large, as people read them.
#pragma once

#include <string>

namespace pareto::report {

/// Returns "9.41 K", "12.3 M", "87", of operations or parameters: three significant digits.
std::string short_count(double count);

}  // namespace pareto::report
