// Monte Carlo over what some plans truly take: how often each is on the front, what the front would lose without it, and who beats it.
// Part of how a race is judged (front_race.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "coordinator/statistics/residual_model.h"

namespace pareto::statistics {

/// Of one plan, over all draws.
struct DrawnPlan {
  int unbeaten = 0;  ///< draws in which no other beats it by more than kFrontTolerance
  double area = 0;   ///< that it alone dominates, of logarithms: the sum over the draws
  std::map<std::size_t, int> beaten_by;  ///< by which other in how many draws; one a draw counts
};

/// Of plans that compete, as many as each of the two has. Figures are drawn from Student's t: how far rounds and predictions scatter is
/// itself known from a few of them. What makes a plan slow makes it less productive, so errors of the two are correlated.
std::vector<DrawnPlan> draw_fronts(JointFigures latency, JointFigures throughput, int draws,
                                   std::uint64_t seed);

}  // namespace pareto::statistics
