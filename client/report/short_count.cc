#include "client/report/short_count.h"

#include "core/base/error.h"

namespace pareto::report {

std::string short_count(double count) {
  const char* unit = count >= 1e9 ? "G" : count >= 1e6 ? "M" : count >= 1e3 ? "K" : "";
  const double scale = count >= 1e9 ? 1e9 : count >= 1e6 ? 1e6 : count >= 1e3 ? 1e3 : 1;
  return fmt::format("{:.3g}{}{}", count / scale, *unit != '\0' ? " " : "", unit);
}

}  // namespace pareto::report
