// Flags that are times: --timeout, --budget and others that may take minutes.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "client/command.h"
#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::client {

/// The flag for the time that a request may take before its pipeline counts as broken.
struct TimeoutFlag {
  std::optional<std::string> timeout;  ///< no value means kRequestTimeout

  void add_to(CLI::App& app);
  /// Returns the time that the flag says. Fails: kInvalidArgument.
  Expected<std::chrono::milliseconds> read() const;
};

/// Parses "90s", "5m", "1h". Fails: kInvalidArgument, naming the flag.
Expected<Nanoseconds> parse_long_time(const std::string& text, const char* flag);
/// Parses "90s", "5m", "1h": in seconds. Fails: kInvalidArgument.
Expected<double> parse_budget(const std::string& text);

}  // namespace pareto::client
