// A count of intervals of a few rounds that hold the medians of many, for recorded runs and for
// simulated ones.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "coordinator/results/record.h"

namespace pareto::test {

/// The number of `cases` intervals that held the median of all recorded rounds, and how wide they
/// were: in the median, half the logarithm of high / low.
struct Coverage {
  int cases = 0;
  int latency = 0;
  int throughput = 0;
  std::vector<double> latency_widths{};
  std::vector<double> throughput_widths{};
};

/// Leaves the plan with the first `own` of these rounds and the others with the first `others`,
/// makes the intervals again as a sweep does, and counts what the plan's hold. `recorded`: plans of
/// one batch and condition, each with all rounds that `rounds` has the places of.
void count_case(const std::vector<results::TrialRecord>& recorded, std::size_t plan,
                std::span<const std::size_t> rounds, std::size_t own, std::size_t others,
                Coverage& coverage);

}  // namespace pareto::test
