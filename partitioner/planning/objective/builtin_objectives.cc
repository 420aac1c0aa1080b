// To add an objective: one row here.
#include "partitioner/planning/objective/objective.h"

namespace pareto::planning {

const std::vector<Objective>& builtin_objectives() {
  using enum Direction;
  static const std::vector<Objective> kObjectives{
      {"latency", "ms", kSmallerIsBetter, [](const Measurement& m) { return m.latency_p50_ms; }},
      {"latency_p90", "ms", kSmallerIsBetter,
       [](const Measurement& m) { return m.latency_p90_ms; }},
      {"latency_p99", "ms", kSmallerIsBetter,
       [](const Measurement& m) { return m.latency_p99_ms; }},
      {"latency_mean", "ms", kSmallerIsBetter,
       [](const Measurement& m) { return m.latency_mean_ms; }},
      {"throughput", "samples/s", kLargerIsBetter,
       [](const Measurement& m) { return m.throughput_per_s; }},
      {"memory", "B", kSmallerIsBetter,
       [](const Measurement& m) { return static_cast<double>(m.peak_memory_bytes); }},
      {"boundary", "B", kSmallerIsBetter,
       [](const Measurement& m) { return static_cast<double>(m.boundary_bytes); }},
  };
  return kObjectives;
}

}  // namespace pareto::planning
