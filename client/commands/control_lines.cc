#include "client/commands/control_lines.h"

#include <utility>

#include "core/base/json_parse.h"
#include "core/base/json_text.h"

namespace pareto::client::commands {

Expected<nlohmann::json> object_in(const std::string& line) {
  auto read = parse_json_or_discard<nlohmann::json>(line);
  if (!read.is_object()) return fail(ErrorCode::kCorrupt, "a line that is no JSON object");
  return read;
}

std::string text_at(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Expected<nlohmann::json> control_answer(const std::string& line) {
  PARETO_ASSIGN(nlohmann::json answer, object_in(line));
  if (!answer.contains("error")) return answer;
  const std::string code = text_at(answer, "code");
  return tl::unexpected(Error{error_code_from_string(code), text_at(answer, "error")});
}

Expected<ResplitQuestion> resplit_question(const nlohmann::json& question) {
  ResplitQuestion read;
  const auto plan = question.find("plan");
  read.split = text_at(question, "split");
  if (plan != question.end() && plan->is_object()) {
    PARETO_ASSIGN(read.plan, plan::plan_file_from_json(dump(*plan)));
  } else if (!question.contains("split") || !question["split"].is_string()) {
    return fail(ErrorCode::kInvalidArgument, "it names neither a \"plan\" nor a \"split\"");
  }
  return read;
}

}  // namespace pareto::client::commands
