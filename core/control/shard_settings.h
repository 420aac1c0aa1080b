// Settings that a device runs a shard with.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace pareto::control {

struct ShardSettings {
  std::string engine = "auto";
  std::string precision = "fp32";
  int threads = 0;         ///< 0 means as the device is set
  std::int64_t batch = 1;  ///< engines are timed at this one
  /// Largest error that bf16 may have, relative to the largest output; 0 means the device's
  /// default.
  double max_error = 0;
  std::string device{};  ///< "cuda:0"; empty means as the device is set
  auto operator<=>(const ShardSettings&) const = default;
};

/// Most threads that a shard may be given.
inline constexpr int kMostThreads = 256;

}  // namespace pareto::control
