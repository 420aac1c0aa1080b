// Race for the front: judges which plans lie on it, including plans never measured, and what to
// measure next to be certain.
//
//   predictions, rounds so far
//       --judge_race--> P(front) of every plan, plans to measure once more --rounds--> judge_race …
//
// Judging: estimate_plans takes what passes have in common out of the rounds. A ResidualModel for
// each figure gives the joint distribution of all plans' true figures. P(front) is the share of
// draws from it (front_draws.h) in which no plan of the group beats this one. A plan beats another
// as in front_probability (statistics.h): it is not worse in either figure, and better by more than
// kFrontTolerance in one.
// How far predictions are believed is learnt from the plans that were measured, some of which
// predictions put far behind (far_look). Predictions that put plans into a wrong order are no guide
// (results/prediction_guide.h): no plan of the group is decided unmeasured.
//
// Racing (Maron and Moore 1994): decided plans leave the race. A plan is decided once its P(front)
// is below RaceRules::undecided, or above 1 - undecided with RaceRules::least_rounds measured. A
// plan that had RaceRules::most_rounds leaves undecided. Plans that are sure to be on the front,
// but lack rounds, are measured first. Then come the plans for which one more round makes the group
// most certain. Each undecided plan counts with p (1 - p), with what the front would lose without
// it, and with how often it beats other undecided ones (after the targeted mean square error of
// Picheny et al. 2010). Measuring one plan tells about its neighbours as well. So a first pass
// spreads along the predicted front by itself (race_pass.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "coordinator/statistics/residual_model.h"
#include "partitioner/planning/cost/compute_share.h"

namespace pareto::statistics {

/// Natural logarithms of ms and samples/s, or of whatever: only ratios matter.
struct LogFigures {
  double latency = 0;
  double throughput = 0;
};

struct RaceRound {
  int pass = 0;
  LogFigures figures;
  LogFigures errors;  ///< standard errors of the logarithms, by the round's own samples
  int loading = 0;    ///< number of its loading; see TrialRound::loading
};

struct RacePlan {
  int group = 0;  ///< plans of one batch and condition: what is compared
  std::vector<double> features;
  std::optional<LogFigures> predicted;     ///< no value means that it is measured in any case
  planning::ComputeShare compute_share{};  ///< shares of compute in what is predicted
  std::vector<RaceRound> rounds;
  bool doubted = false;      ///< true if its prediction stems from a busy machine
  bool failed = false;       ///< it is on no front
  bool unreachable = false;  ///< its network cannot be had, nor that of its group: no more rounds
};

/// The least P(front) of a plan that was not measured and is one of too many to be left out: little
/// speaks for it alone, and much for some of them.
inline constexpr double kLeftOpen = 0.06;

struct RaceRules {
  double undecided = 0.05;
  /// The share of a group's front that plans may hold together that were never measured and are
  /// called decided. Those beyond it stay open, with a P(front) of at least kLeftOpen.
  double left_out = 0.02;
  int least_rounds = 2;
  int most_rounds = 10;
  std::size_t widest_pass = 32;
  /// Least number of plans of a group that are measured, the nearest to the front; in a small
  /// group, half. Predictions do not rule these out.
  std::size_t first_look = 6;
  /// The number of plans of a group that are measured although predictions put them far behind the
  /// front. Only that tells whether predictions are right there.
  std::size_t far_look = 2;
  /// The number of plans of an open group that are measured twice as soon as they were measured
  /// once. Only that tells how much rounds differ, and so how far one is to be believed.
  std::size_t second_look = 4;
  int draws = 1000;
  std::uint64_t seed = 1;
};

struct PlanStanding {
  double p_front = 0;
  bool decided = false;
  ResidualModel::Figure latency;  ///< latency by prediction and rounds together
  ResidualModel::Figure throughput;
  /// Figures by its rounds alone, as if measured in the average pass; no value: it has no rounds.
  std::optional<LogFigures> seen{};
};

struct RaceState {
  std::vector<PlanStanding> standings;  ///< standings of all plans, in their order
  std::vector<std::size_t> next_pass;   ///< plans to measure once each; empty: the race is over
};

/// Fast enough between two passes: about a second for a thousand plans of which a hundred were
/// measured.
RaceState judge_race(std::span<const RacePlan> plans, const RaceRules& rules);

}  // namespace pareto::statistics
