// The rounding of a figure that people read. Tables, pages, CSV and JSON show the same number, so
// that a reader who compares two of them by eye comes to the front that is marked.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <string>

namespace pareto::results {

/// Returns how many digits after the point a figure is printed with: four significant digits, and
/// never more than three.
inline int decimals_of(double value) {
  const double size = std::abs(value);
  return size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3;
}

/// Returns the figure as it is printed. Keeps four significant digits of one that would be printed
/// as 0.
inline double shown_figure(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const std::string printed = fmt::format("{:.{}f}", value, decimals_of(value));
  const double rounded = std::strtod(printed.c_str(), nullptr);
  return rounded != 0 ? rounded : std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr);
}

}  // namespace pareto::results
