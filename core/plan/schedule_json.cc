#include "core/plan/schedule_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/digest.h"
#include "core/base/json_reason.h"
#include "core/plan/stage_settings.h"

namespace pareto::plan {
namespace {

/// Depth to which a program's lists and objects may be nested.
constexpr int kDeepest = 32;

bool is_deeper(const nlohmann::json& json, int most) {
  if (!json.is_structured()) return false;
  return most == 0 || std::ranges::any_of(json, [most](const nlohmann::json& part) {
           return is_deeper(part, most - 1);
         });
}

}  // namespace

std::string schedule_title(const std::string& schedule) {
  constexpr std::size_t kDigits = 8;
  if (!is_program(schedule)) return schedule;
  return "program " + sha256(schedule).hex().substr(0, kDigits);
}

nlohmann::ordered_json schedule_json(const std::string& schedule) {
  if (!is_program(schedule)) return schedule;
  auto json = nlohmann::ordered_json::parse(schedule, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? nlohmann::ordered_json(schedule) : json;
}

Expected<std::string> schedule_from(const nlohmann::json& json) {
  std::string text;
  if (json.is_object()) {
    if (is_deeper(json, kDeepest)) {
      return fail(ErrorCode::kInvalidArgument, "a program is nested deeper than {}", kDeepest);
    }
    text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  } else if (json.is_string() && !json.get_ref<const std::string&>().empty()) {
    text = json.get<std::string>();
  } else {
    return fail(ErrorCode::kInvalidArgument,
                "neither the name of a schedule nor a program (an object)");
  }
  if (text.size() <= kMostScheduleBytes) return text;
  return fail(ErrorCode::kInvalidArgument, "a schedule of {} bytes, more than {}", text.size(),
              kMostScheduleBytes);
}

Expected<std::string> canonical_schedule(const std::string& schedule) {
  if (schedule.size() > kMostScheduleBytes) {
    return fail(ErrorCode::kInvalidArgument, "a schedule of {} bytes, more than {}",
                schedule.size(), kMostScheduleBytes);
  }
  if (!is_program(schedule)) return schedule_from(schedule);
  try {
    return schedule_from(nlohmann::json::parse(schedule));
  } catch (const nlohmann::json::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "this is no program: {}", json_reason(error));
  }
}

}  // namespace pareto::plan
