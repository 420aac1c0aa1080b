#include "daemon/stage/stage_context.h"

#include "core/control/hello.h"

namespace pareto::daemon {

std::vector<LogField> log_fields(std::uint64_t pipeline, std::uint32_t stage) {
  return {{"PARETO_PIPELINE", fmt::format("{:016x}", pipeline)},
          {"PARETO_STAGE", std::to_string(stage)}};
}

std::string StageContext::name() const { return fmt::format("stage {} on {}", stage, device); }

void StageContext::log(LogLevel level, std::string_view text, LogPlace place) const {
  log_about(log_fields(pipeline, stage), level, fmt::format("pipeline {:016x} {}", pipeline, text),
            place);
}

wire::Message StageContext::failure_of(std::uint64_t request, const Error& error) const {
  const Error here{error.code, name() + ": " + error.message};
  ++meter->failed;
  log(LogLevel::kDebug, fmt::format("request {}: {}", request, here.message));
  return control::error_message(pipeline, request, here);
}

}  // namespace pareto::daemon
