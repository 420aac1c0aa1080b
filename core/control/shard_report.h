// The answer of a device that has loaded a shard.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace pareto::control {

/// An engine that a device tried for a shard.
struct TriedEngine {
  std::string engine;
  Nanoseconds best{};         ///< its fastest run on example inputs; 0: it could not be built
  std::string failure;        ///< why it could not be built or gave another result; empty: it works
  double relative_error = 0;  ///< error of its outputs against the plain engine's
  std::string precision{};    ///< precision that it computes in: "fp32", "bf16"
  bool operator==(const TriedEngine&) const = default;
};

struct ShardReport {
  std::string handle;  ///< names the shard to OpenStage and UnloadShard
  std::string engine;  ///< the engine that the device kept
  std::vector<TriedEngine> timings{};
  /// Bytes that the shard takes, with all that other shards have in common with it.
  std::uint64_t memory_bytes = 0;
  /// Bytes that all shards of the device take now; what they have in common is counted once.
  std::uint64_t shards_bytes = 0;
  bool was_loaded = false;         ///< true if the device had loaded it before
  std::string precision{};         ///< precision that the engine computes in
  std::string precision_reason{};  ///< why that is not the one asked for; empty: it is
  std::string schedule{};  ///< title of the schedule that was kept; empty: the daemon knows none
  std::string schedule_reason{};  ///< why that is not the one asked for, or was chosen; or empty
  bool operator==(const ShardReport&) const = default;
};

}  // namespace pareto::control
