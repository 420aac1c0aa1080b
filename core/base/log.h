// Logging for the programs: one logger to stderr, or to where the program sends its lines; levels
// by name. Libraries below daemon/ and client/ do not log, they return errors.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace pareto {

enum class LogLevel { kDebug, kInfo, kWarn, kError };

/// A field of a log line, next to its text: where lines are kept with fields, they can be searched
/// by it.
struct LogField {
  std::string_view name;  ///< "PARETO_PIPELINE"
  std::string value;
};

/// The place in the source where a line was written; its file without folders. Empty if that is not
/// known.
struct LogPlace {
  std::string_view file;
  int line = 0;
  std::string_view function;

  /// Returns the place of the call, as a default argument.
  static constexpr LogPlace here(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                                 const char* function = __builtin_FUNCTION()) {
    const std::string_view path = file;
    return {path.substr(path.rfind('/') + 1), line, function};
  }
};

/// One line on its way out. What it points to lives until the call returns.
struct LogLine {
  LogLevel level = LogLevel::kInfo;
  std::string_view text;
  std::span<const LogField> fields;
  LogPlace place;
};
/// A place that lines of the log go to.
///
/// Threads: called from any, by several at a time.
using LogOutput = std::function<void(const LogLine&)>;

/// Sets up logging at a level: "trace", "debug", "info", "warn", "error" or "off". Lines and fields
/// may quote what a peer said: control characters in them become blanks, in this one place. Sets
/// spdlog's default logger to `output`, or without one to stderr with time and `program` before
/// each line. Before other threads log. Fails: kInvalidArgument naming the levels.
Expected<> set_up_logging(std::string_view program, std::string_view level, LogOutput output = {});

/// Sets the level from now on. Threads: any. Fails: as set_up_logging.
Expected<> set_log_level(std::string_view level);

/// Logs a line with fields. A LogOutput gets them next to the text; on stderr they are dropped.
/// Threads: any.
void log_about(const std::vector<LogField>& fields, LogLevel level, std::string_view text,
               LogPlace place = LogPlace::here());

}  // namespace pareto
