// Counts of a stage, which its daemon keeps and a coordinator receives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/duration_histogram.h"
#include "core/base/error.h"

namespace pareto::control {

enum class StageState {
  kOpening,   ///< a link has not said hello yet, or start() was not called
  kRunning,   ///< all threads run
  kDraining,  ///< no request will follow; those that came are finished
  kFailed,    ///< a link broke; terminal
  kClosed,    ///< drained or closed; terminal
};
/// Returns "opening", "running", "draining", "failed", "closed".
std::string_view to_string(StageState state);
/// Reads a state by its name. Fails: kCorrupt (no state of that name).
Expected<StageState> parse_stage_state(std::string_view name);

struct StageReport {
  std::uint64_t pipeline = 0;
  std::uint32_t stage = 0;
  std::string shard{};  ///< its handle: stages of several pipelines may run the same
  StageState state = StageState::kOpening;
  std::string failure{};  ///< why it failed; empty otherwise
  std::uint64_t requests = 0;
  std::uint64_t failed_requests = 0;
  std::uint64_t bytes_received = 0;  ///< frames of requests, headers included
  std::uint64_t bytes_sent = 0;
  std::uint64_t in_flight = 0;  ///< requests that came and have not left
  bool operator==(const StageReport&) const = default;
};

/// The shard that a stage runs, and its counts since it was opened.
struct StageActivity : StageReport {
  std::string model{};
  std::int64_t begin = 0;  ///< operators of the model
  std::int64_t end = 0;
  std::string engine{};
  std::uint64_t answered = 0;  ///< requests whose values were sent on
  DurationCounts wait{};       ///< times that requests waited to be computed
  DurationCounts compute{};
  std::uint64_t dropped = 0;  ///< failed requests that were too late to be computed
  Nanoseconds receiving{};    ///< while requests were coming in
  Nanoseconds sending{};      ///< time until the downstream link had taken what was sent
  Nanoseconds round_trip{};   ///< round trip to the next stage when it started; 0: not known
  std::uint64_t link_bytes_per_second = 0;  ///< the same way
  std::string schedule{};                   ///< see ShardReport::schedule
  /// Time that each worker of its schedule has computed; empty: its shard has no schedule.
  std::vector<Nanoseconds> workers{};
};

}  // namespace pareto::control
