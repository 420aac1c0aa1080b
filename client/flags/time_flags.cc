#include "client/flags/time_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "coordinator/load/lost_request.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace pareto::client {

void TimeoutFlag::add_to(CLI::App& app) {
  set_value(app.add_option("--timeout", timeout,
                           fmt::format("time after which a request counts as lost (default: {}s, "
                                       "or 50 times what requests were seen to take)",
                                       load::kRequestTimeout.count() / 1000)),
            "DURATION");
}

Expected<std::chrono::milliseconds> TimeoutFlag::read() const {
  if (!timeout) return load::kRequestTimeout;
  PARETO_ASSIGN(const Nanoseconds limit, parse_long_time(*timeout, "--timeout"));
  if (limit < std::chrono::milliseconds(1) || limit > std::chrono::hours(24)) {
    return fail(ErrorCode::kInvalidArgument, "--timeout {}: 1ms to 24h are possible", *timeout);
  }
  return std::chrono::duration_cast<std::chrono::milliseconds>(limit);
}

/// Other durations are so short that "5m" could be taken for something else.
Expected<Nanoseconds> parse_long_time(const std::string& text, const char* flag) {
  return with_context(parse_duration(text.ends_with("m") ? text + "in" : text), "{}", flag);
}

Expected<double> parse_budget(const std::string& text) {
  PARETO_ASSIGN(const Nanoseconds budget, parse_long_time(text, "--budget"));
  if (budget.count() > 0) return to_seconds(budget);
  return fail(ErrorCode::kInvalidArgument, "--budget {}: leaves no time to measure", text);
}

}  // namespace pareto::client
