// How a device runs a stage: a part of a plan, and of what loads a shard
// (core/control/shard_settings.h).
#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

namespace pareto::plan {

/// Most threads that a stage may be given.
inline constexpr int kMostThreads = 256;
/// Most bytes of the text of a schedule.
inline constexpr std::size_t kMostScheduleBytes = 256 << 10;
/// Weights of pipelines that share a device: the least and the most.
inline constexpr double kLeastWeight = 0.01;
inline constexpr double kMostWeight = 100;
/// Priorities of requests are from −kMostPriority to this.
inline constexpr int kMostPriority = 127;
/// The schedule of a stage that names none.
inline constexpr const char* kSequential = "sequential";
/// The device keeps the schedule that is fastest there.
inline constexpr const char* kAutoSchedule = "auto";
/// A batch crosses the links of its pipeline in two halves.
inline constexpr const char* kOverlapSchedule = "overlap";

struct StageSettings {
  std::string engine = "auto";
  std::string precision = "fp32";
  int threads = 0;  ///< threads of a request, at most kMostThreads; 0: as the device is set
  /// Largest error of bf16, against plain fp32 and relative to the largest output; 0: the device's
  /// default.
  double max_error = 0;
  /// The name of a schedule (runtime/schedules/schedule.h) or "auto"; or a user's program as
  /// canonical JSON text.
  std::string schedule{kSequential};
  auto operator<=>(const StageSettings&) const = default;
};

/// Returns whether a schedule is a user's program, and not a name.
inline bool is_program(std::string_view schedule) { return schedule.starts_with('{'); }
/// Returns a schedule as people read it: its name, or "program 3f2a91c0" by the text's digest.
std::string schedule_title(const std::string& schedule);

}  // namespace pareto::plan
