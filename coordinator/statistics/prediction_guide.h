// A judgement on the predictions of a race: they guide if plans that they set far apart stand in
// that order once both are measured. Part of how a race is judged (front_race.h).
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "coordinator/results/kept_order.h"
#include "coordinator/statistics/front_race.h"

namespace pareto::statistics {

/// Says of each group whether its predictions guide.
///
/// Latency and throughput are judged each for itself, in the group and in all groups together:
/// groups share devices. Where too few pairs were measured to tell, predictions guide, unless they
/// are doubted (RacePlan::doubted).
///
/// Threads: one owner.
class PredictionGuide {
 public:
  PredictionGuide(const std::map<int, std::vector<std::size_t>>& groups,
                  std::span<const RacePlan> plans, const std::vector<PlanStanding>& standings);

  /// Returns whether predictions may rule out plans of the group.
  bool guides(int group) const;

 private:
  struct Orders {
    results::KeptOrder latency;
    results::KeptOrder throughput;
    bool doubted = false;

    bool are_kept() const;
  };

  std::map<int, Orders> orders_;
  Orders all_;
};

}  // namespace pareto::statistics
