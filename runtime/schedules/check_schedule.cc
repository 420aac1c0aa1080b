#include "runtime/schedules/check_schedule.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/plan/schedule_json.h"
#include "core/plan/stage_settings.h"
#include "runtime/schedules/program.h"
#include "runtime/schedules/schedule.h"

namespace pareto::schedules {
namespace {

/// The one schedule that is not asked for by its name: it needs a program.
constexpr const char* kProgram = "program";

}  // namespace

const std::vector<std::string>& schedule_choices() {
  static const std::vector<std::string> kChoices = [] {
    std::vector<std::string> names = schedule_names();
    std::erase(names, kProgram);
    names.insert(names.begin(), plan::kAutoSchedule);
    return names;
  }();
  return kChoices;
}

Expected<> check_schedule(const std::string& schedule) {
  if (plan::is_program(schedule)) {
    PARETO_TRY(plan::canonical_schedule(schedule));
    PARETO_TRY(program_from_json(schedule));
    return {};
  }
  const std::vector<std::string>& names = schedule_choices();
  if (std::ranges::find(names, schedule) != names.end()) return {};
  return fail(ErrorCode::kInvalidArgument,
              "no schedule \"{}\"{}; there are {}, and files of programs (.yaml, .json)", schedule,
              did_you_mean(schedule, names), join(names));
}

}  // namespace pareto::schedules
