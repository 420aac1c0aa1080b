// A judgement on the predictions of a race: they guide if plans that they set far apart stand in
// that order once both are measured. Part of how a race is judged (front_race.h).
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "coordinator/results/kept_order.h"
#include "coordinator/statistics/front_race.h"
#include "coordinator/statistics/pass_effects.h"

namespace pareto::statistics {

/// Says of each group whether its predictions guide.
///
/// Latency and throughput are judged each for itself, in the group and in all groups together:
/// groups share devices. Where too few pairs were measured to tell, predictions guide, unless they
/// are doubted (RacePlan::doubted).
///
/// Only rounds are evidence. What a race believes of a plan is made of its prediction too, and of
/// little else where rounds differ much: by that, predictions would prove themselves.
///
/// Threads: one owner.
class PredictionGuide {
 public:
  /// `latency`, `throughput`: what the rounds say of each plan that has any.
  PredictionGuide(const std::map<int, std::vector<std::size_t>>& groups,
                  std::span<const RacePlan> plans, std::span<const PlanEstimate> latency,
                  std::span<const PlanEstimate> throughput);

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
