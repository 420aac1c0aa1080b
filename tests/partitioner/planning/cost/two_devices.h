// The costs of a small model on two devices, for tests.
#pragma once

#include <cstdint>
#include <vector>

#include "partitioner/planning/cost/evaluate.h"

namespace pareto::planning {

inline std::vector<Nanoseconds> prefix_sums(const std::vector<std::int64_t>& each) {
  std::vector<Nanoseconds> sums{Nanoseconds(0)};
  for (const std::int64_t time : each) sums.push_back(sums.back() + Nanoseconds(time));
  return sums;
}

/// Returns three operators on a fast and a slow device; every link takes 1 ns a byte (1 GB/s) and
/// has a delay of 50 ns.
inline CostInputs two_devices() {
  CostInputs inputs;
  inputs.boundary_bytes = {100, 40, 20, 10};
  inputs.legal = {true, true, true, true};
  DeviceCosts fast;
  fast.name = "fast";
  fast.compute = prefix_sums({10, 20, 30});
  fast.overhead = Nanoseconds(5);
  fast.weight_bytes = {0, 1000, 1500, 1600};
  fast.crossing_bytes = {1, 2, 4, 8};
  fast.figures = {{"power", 3}, {"price_per_hour", 20}};
  DeviceCosts slow = fast;
  slow.name = "slow";
  slow.compute = prefix_sums({100, 200, 300});
  slow.figures = {{"power", 1}, {"price_per_hour", 7}};
  inputs.devices = {fast, slow};
  LinkCosts link;
  link.bytes_per_second = 1e9;
  link.delay = Nanoseconds(50);
  inputs.links.assign(3, std::vector<LinkCosts>(3, link));
  return inputs;
}

inline OperatingPoint point(std::int64_t latency, int window) {
  return {Nanoseconds(latency), window};
}

}  // namespace pareto::planning
