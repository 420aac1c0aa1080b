#include "core/control/stage_report.h"

#include <array>

#include "core/base/printable.h"

namespace pareto::control {
namespace {

constexpr std::array<std::string_view, 5> kNames{"opening", "running", "draining", "failed",
                                                 "closed"};

}  // namespace

std::string_view to_string(StageState state) { return kNames.at(static_cast<std::size_t>(state)); }

Expected<StageState> parse_stage_state(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<StageState>(i);
  }
  return fail(ErrorCode::kCorrupt, "told of a stage that is \"{}\"", printable(std::string(name)));
}

}  // namespace pareto::control
