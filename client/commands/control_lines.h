// Lines that a running `deploy` and the program that asks it say to each other (deploy_control.h),
// read.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/plan/plan.h"

namespace pareto::client::commands {

/// Reads a line as a JSON object. Fails: kCorrupt.
Expected<nlohmann::json> object_in(const std::string& line);
/// Returns the text under a key of an object; "" if there is none.
std::string text_at(const nlohmann::json& object, const char* key);

/// Reads the line of an answer. Fails: kCorrupt; with the error that it holds.
Expected<nlohmann::json> control_answer(const std::string& line);

/// A request to change the plan: either to another one, or to the same one cut elsewhere.
struct ResplitQuestion {
  std::optional<plan::PlanFile> plan;
  std::string split;  ///< split points at which the plan that runs is cut
};
/// Reads a question of "resplit". Fails: kInvalidArgument (it names neither, no plan).
Expected<ResplitQuestion> resplit_question(const nlohmann::json& question);

}  // namespace pareto::client::commands
