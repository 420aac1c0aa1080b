// Figures of objectives, for tables.
#pragma once

#include <string>
#include <string_view>

namespace pareto::report {

/// Returns the title of an objective's column: "energy mJ"; without the unit if the cells or the
/// name say it.
std::string objective_column(std::string_view name, std::string_view unit);
/// Returns a figure of an objective: "27.2 MiB", "0.00122"; "-" if it is NaN.
std::string objective_text(double value, std::string_view unit);

}  // namespace pareto::report
