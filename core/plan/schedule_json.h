// A stage's schedule in documents: a name as a string, a user's program as an object.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/base/error.h"

namespace pareto::plan {

/// Returns the schedule as a value of a document.
nlohmann::ordered_json schedule_json(const std::string& schedule);
/// Returns the schedule that such a value says; of an object its canonical text, with keys sorted.
/// What is in the program is not looked at. Fails: kInvalidArgument (neither a name nor an object,
/// nested too deeply, longer than kMostScheduleBytes).
Expected<std::string> schedule_from(const nlohmann::json& json);
/// Returns the text as schedule_from() would: a name as it is, a program with its keys sorted.
/// Fails: as schedule_from(); kInvalidArgument (a program that is no JSON).
Expected<std::string> canonical_schedule(const std::string& schedule);

}  // namespace pareto::plan
