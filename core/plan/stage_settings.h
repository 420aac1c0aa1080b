// How a device runs a stage: a part of a plan, and of what loads a shard
// (core/control/shard_settings.h).
#pragma once

#include <compare>
#include <string>

namespace pareto::plan {

/// Most threads that a stage may be given.
inline constexpr int kMostThreads = 256;

struct StageSettings {
  std::string engine = "auto";
  std::string precision = "fp32";
  int threads = 0;  ///< threads of a request, at most kMostThreads; 0: as the device is set
  /// Largest error of bf16, against plain fp32 and relative to the largest output; 0: the device's
  /// default.
  double max_error = 0;
  auto operator<=>(const StageSettings&) const = default;
};

}  // namespace pareto::plan
