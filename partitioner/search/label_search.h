// The exact front by a label-setting dynamic program (Martins 1984, for paths of many criteria): partial plans with the same used devices,
// the same last one and the same position are rivals; those that another is no worse than in every criterion are dropped. All criteria are
// sums or maxima in whole nanoseconds, so dropping them is exact.
//
// It takes any criteria, at N² steps and more where thresholds take N. What is known of the front prunes: it is searched for on every 16th
// position first, then on every 4th, then on all.
#pragma once

#include <vector>

#include "partitioner/search/point_front.h"

namespace pareto::partitioner {

/// Shared media are criteria, so there is a bound on them.
inline constexpr int kMostMedia = 2;

/// Adds the pipelines' part of the front; placements go to `witnesses`. `inputs` pass check_search() and have kMostMedia at most. The
/// result is the same whatever the front holds already, but the better that is the sooner it ends. Fails: as check_size().
Expected<> label_search(const CostInputs& inputs, const SearchOptions& options, PointFront& front,
                        std::vector<Placement>& witnesses);

}  // namespace pareto::partitioner
