// Differences between rounds of one run, learnt from all plans of a group together. They give an
// interval even to a plan with one round.
//
//   SeenRound … of every plan --learn_round_noise--> RoundNoise --error_of--> FigureError
//     --interval_about--> interval of the figure
//
//   logarithm of a round's figure
//     = the plan's own level + the machine's state in that round + what is left
//
// State and levels are fitted by turns. What is left is pooled over all plans. The variance of each
// plan is shrunk towards the pool: (d0 s0² + d s²) / (d0 + d) with d0 + d degrees of freedom, the
// empirical Bayes estimate under an inverse chi-square prior (Smyth 2004, "Linear models and
// empirical Bayes methods", as in limma). d0 is fixed: from seven rounds on a plan's own outweigh
// the pool. What lies beyond three standard deviations counts as if it were there.
//
// The state's variance has as many degrees as there are rounds, less one. A prior stands next to
// both, and is all there is after one round. It follows how much the requests of a round differ
// among themselves, because a machine that disturbs requests disturbs rounds. Intervals take
// Student's t with Welch and Satterthwaite's degrees of both parts.
//
// Tried on recorded rounds of busy machines and on simulated ones: of 200 intervals of 1, 2, 3 and
// 6 rounds 91 % or more held the median of thirty rounds (./dev bench intervals).
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "coordinator/results/record.h"

namespace pareto::statistics {

/// The rules of intervals in words, for the report.
inline constexpr std::string_view kIntervalRules =
    "Intervals are 95 %, of what other rounds of the plan would show. How much rounds differ is "
    "learnt from all plans of the batch and network together. The more rounds a plan has, the more "
    "they count. Fewer than six rounds make no place on the front certain.";

/// One figure of one plan in one round.
struct SeenRound {
  int round = 0;
  double logarithm = 0;  ///< natural, of the figure
};

/// Returns the median latency of each round; rounds without samples are left out.
std::vector<SeenRound> seen_latencies(const results::TrialRecord& trial);
/// Returns the slope of completions of each round, in samples/s; likewise.
std::vector<SeenRound> seen_throughputs(const results::TrialRecord& trial);
/// Returns the standard deviation of the logarithms of one round's latencies, the median of all
/// rounds. It is not robust, because what disturbs single requests disturbs whole rounds too.
double request_spread(std::span<const results::TrialRecord* const> trials);

/// A variance of logarithms, and how well it is known.
struct NoiseVariance {
  double value = 0;
  double degrees = 1;
};

struct RoundNoise {
  NoiseVariance state;     ///< variance of the machine's state in a round, which all plans share
  std::size_t rounds = 0;  ///< different ones, of all plans
  struct Plan {
    NoiseVariance left;      ///< variance of what is left of one round
    double squares = 0;      ///< sum of squares of what was left of its rounds
    std::size_t rounds = 0;  ///< its own
  };
  std::vector<Plan> plans;
};

/// Learns the noise from `plans`, the rounds of each plan of one batch and condition. `spread`
/// comes from request_spread().
RoundNoise learn_round_noise(std::span<const std::vector<SeenRound>> plans, double spread);

/// The error of a figure's logarithm.
struct FigureError {
  double variance = 0;
  double degrees = 1;
};
/// Adds two independent errors.
FigureError operator+(const FigureError& a, const FigureError& b);

/// Returns the error of a plan's figure, the median of its rounds, for who measures the same plan
/// another day. At least one round.
FigureError error_of(const RoundNoise& noise, std::size_t plan);
/// Returns a 95 % interval about the figure: a factor up and down.
results::Interval interval_about(double figure, const FigureError& error);

}  // namespace pareto::statistics
