#include "core/base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/base/text.h"

namespace pareto {

Expected<> set_up_logging(std::string_view program, std::string_view level) {
  static const std::array<std::string, 6> kLevels{"trace", "debug", "info", "warn", "error", "off"};
  if (std::find(kLevels.begin(), kLevels.end(), level) == kLevels.end()) {
    return fail(ErrorCode::kInvalidArgument, "unknown log level \"{}\"; levels are {}", level,
                join(kLevels));
  }
  auto logger = std::make_shared<spdlog::logger>(
      std::string(program), std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %n %^%l%$ %v");
  logger->set_level(spdlog::level::from_str(std::string(level)));
  spdlog::set_default_logger(std::move(logger));
  return {};
}

}  // namespace pareto
