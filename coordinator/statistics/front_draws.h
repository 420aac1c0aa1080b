// Monte Carlo over what some plans truly take: how often each is on the front, what the front would
// lose without it, and who beats it. Part of how a race is judged (front_race.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "coordinator/statistics/residual_model.h"

namespace pareto::statistics {

/// The results of one plan, over all draws.
struct DrawnPlan {
  int unbeaten = 0;  ///< draws in which no other beats it by more than kFrontTolerance
  double area = 0;   ///< area of logarithms that only it dominates: the sum over the draws
  /// Number of draws in which each other plan beats it; one plan a draw counts.
  std::map<std::size_t, int> beaten_by;
};

/// Draws the fronts of plans that compete, as many as each of the two has. Figures are drawn from
/// Student's t: how far rounds and predictions scatter is itself known from a few of them. What
/// makes a plan slow makes it less productive, so errors of the two are correlated.
std::vector<DrawnPlan> draw_fronts(JointFigures latency, JointFigures throughput, int draws,
                                   std::uint64_t seed);

}  // namespace pareto::statistics
