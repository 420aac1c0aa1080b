#include "client/report/objective_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

#include "client/report/plan_text.h"
#include "core/base/text.h"

namespace pareto::report {

std::string objective_column(std::string_view name, std::string_view unit) {
  return unit == "B" || unit == "money" ? std::string(name) : fmt::format("{} {}", name, unit);
}

std::string objective_text(double value, std::string_view unit) {
  // Three decimals would show little of it.
  constexpr double kSmall = 0.1;
  if (std::isnan(value)) return "-";
  if (unit == "B") return format_bytes(static_cast<std::uint64_t>(std::llround(value)));
  return std::abs(value) < kSmall ? fmt::format("{:.3g}", value) : format_figure(value);
}

}  // namespace pareto::report
