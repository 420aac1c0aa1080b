// Estimates what each pass of a sweep did to the plans it measured, and removes it. Plans measured
// in different passes can then be compared.
//
//   logarithm of a round's figure = of the plan's true figure
//                                   + what its pass does to all plans of the group
//                                   + what loading its shards made of them + noise
//
// The first two are estimated in turns until they agree (backfitting, Buja, Hastie and Tibshirani
// 1989), those of passes shrunk as random effects are (Robinson 1991). Rounds are not normal: a
// disturbed one weighs less, by Student's t with 4 degrees of freedom (Lange, Little and Taylor
// 1989). How much rounds differ is learnt by group and by plan; few rounds say little about it, so
// a prior stands next to.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

namespace pareto::statistics {

/// One figure of one plan in one pass.
struct PassObservation {
  std::size_t plan = 0;
  int group = 0;  ///< plans of one batch and condition
  int pass = 0;
  double logarithm = 0;  ///< natural, of the figure
  double error = 0;      ///< standard error of it by the round's own samples
  /// Loading of the plan's shards: the same for rounds that ran them as they were.
  int loading = 0;
};

struct PlanEstimate {
  std::size_t plan = 0;
  double logarithm = 0;  ///< logarithm of the figure as if measured in the average pass
  double variance = 0;   ///< variance of its error
};

struct PassEstimates {
  std::vector<PlanEstimate> plans;  ///< one for each that has observations, ascending
  /// Variance by group, of the differences between a round and others of its plan.
  std::map<int, double> round_variances;
  /// Returns the variance of a group's rounds, and of one that was not measured yet too.
  double round_variance(int group) const;
};

PassEstimates estimate_plans(std::span<const PassObservation> observations);

}  // namespace pareto::statistics
