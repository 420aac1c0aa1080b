// What a plan is judged by, and which plans no other plan beats.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pareto::planning {

/// One plan's figures, measured or predicted. A latency or throughput is never quoted without its window.
struct Measurement {
  double latency_p50_ms = 0;
  double latency_p90_ms = 0;
  double latency_p99_ms = 0;
  double latency_mean_ms = 0;
  int latency_window = 1;
  double throughput_per_s = 0;  ///< samples (not batches) a second
  int throughput_window = 1;
  std::uint64_t peak_memory_bytes = 0;  ///< of the device that needs most
  std::uint64_t boundary_bytes = 0;     ///< what crosses between stages for one request
};

enum class Direction { kSmallerIsBetter, kLargerIsBetter };

/// A row of the table in builtin_objectives.cc.
struct Objective {
  std::string_view name;  ///< "latency", "throughput", "memory"
  std::string_view unit;
  Direction direction;
  std::function<double(const Measurement&)> value;
};

const std::vector<Objective>& builtin_objectives();

/// Indices of the non-dominated points, ascending: nobody is at least as good in every objective and better in one. Of equal points
/// all stay; a point with a NaN among its figures is on no front. O(n log n) for two objectives.
std::vector<std::size_t> pareto_front(const std::vector<Measurement>& points,
                                      const std::vector<const Objective*>& objectives);
/// Whether a beats b.
bool dominates(const Measurement& a, const Measurement& b,
               const std::vector<const Objective*>& objectives);

}  // namespace pareto::planning
