#include "core/base/log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "core/base/printable.h"
#include "core/base/text.h"

namespace pareto {
namespace {

/// The text that log_about() adds to the line that its thread is logging: spdlog hands its sinks
/// only text, in the thread that logs.
struct Addition {
  std::span<const LogField> fields;
  LogPlace place;
};
thread_local Addition addition;

LogLevel level_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::trace:
    case spdlog::level::debug:
      return LogLevel::kDebug;
    case spdlog::level::warn:
      return LogLevel::kWarn;
    case spdlog::level::err:
    case spdlog::level::critical:
      return LogLevel::kError;
    default:
      return LogLevel::kInfo;
  }
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  static constexpr std::array kLevels{spdlog::level::debug, spdlog::level::info,
                                      spdlog::level::warn, spdlog::level::err};
  return kLevels[static_cast<std::size_t>(level)];
}

/// The bytes of a line or a field that are kept: a peer may have written it.
constexpr std::size_t kLongestLine = 16 << 10;

/// Passes lines on without control characters: a name that a peer chose can begin no line of its
/// own, and no escape reaches a terminal.
class PrintableSink final : public spdlog::sinks::sink {
 public:
  explicit PrintableSink(spdlog::sink_ptr next) : next_(std::move(next)) {}

  void log(const spdlog::details::log_msg& message) override {
    const std::string_view text(message.payload.data(), message.payload.size());
    if (text.size() <= kLongestLine && is_printable(text)) return next_->log(message);
    const std::string clean = printable(text, kLongestLine);
    spdlog::details::log_msg line = message;
    line.payload = clean;
    next_->log(line);
  }
  void flush() override { next_->flush(); }
  void set_pattern(const std::string& pattern) override { next_->set_pattern(pattern); }
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override {
    next_->set_formatter(std::move(formatter));
  }

 private:
  const spdlog::sink_ptr next_;
};

class OutputSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  explicit OutputSink(LogOutput output) : output_(std::move(output)) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    output_({level_of(message.level),
             {message.payload.data(), message.payload.size()},
             addition.fields,
             addition.place});
  }
  void flush_() override {}

  const LogOutput output_;
};

Expected<spdlog::level::level_enum> parse_level(std::string_view level) {
  static const std::array<std::string, 6> kLevels{"trace", "debug", "info", "warn", "error", "off"};
  if (std::find(kLevels.begin(), kLevels.end(), level) == kLevels.end()) {
    return fail(ErrorCode::kInvalidArgument, "unknown log level \"{}\"; levels are {}", level,
                join(kLevels));
  }
  return spdlog::level::from_str(std::string(level));
}

}  // namespace

Expected<> set_up_logging(std::string_view program, std::string_view level, LogOutput output) {
  PARETO_ASSIGN(const auto parsed, parse_level(level));
  spdlog::sink_ptr sink;
  if (output) {
    sink = std::make_shared<OutputSink>(std::move(output));
  } else {
    sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  }
  auto logger = std::make_shared<spdlog::logger>(std::string(program),
                                                 std::make_shared<PrintableSink>(std::move(sink)));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %n %^%l%$ %v");
  logger->set_level(parsed);
  spdlog::set_default_logger(std::move(logger));
  return {};
}

Expected<> set_log_level(std::string_view level) {
  PARETO_ASSIGN(const auto parsed, parse_level(level));
  spdlog::default_logger_raw()->set_level(parsed);
  return {};
}

void log_about(const std::vector<LogField>& fields, LogLevel level, std::string_view text,
               LogPlace place) {
  std::vector<LogField> clean = fields;
  for (LogField& field : clean) field.value = printable(field.value, kLongestLine);
  const Addition before = std::exchange(addition, {clean, place});
  spdlog::default_logger_raw()->log(spdlog_level(level), spdlog::string_view_t(text));
  addition = before;
}

}  // namespace pareto
