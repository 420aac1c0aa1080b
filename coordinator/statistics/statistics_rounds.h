// Figure from a handful of rounds: each round is one observation, and the interval allows for how
// few they are.
//
//   TrialRound … --latency_figures, throughput_figures--> RoundFigure …
//       --figure_interval--> what a trial's figure may truly be
//       --statistics_comparison.h--> how two trials compare
//
// A sweep has 2 to 5 rounds. What the machine does to a round (2-5 %) is the same for all its
// requests. A bootstrap over so few rounds, or over their samples as one series, is far too narrow.
// Its 95 % intervals of a p50 hold the truth 58-84 % of the time. Here a round counts as one
// observation, the logarithm of its median or slope. The interval of the mean of R observations is
// Student's (1908), which allows for a small R: 4.3 standard errors at R = 3. Two or three rounds
// may agree by chance better than their own samples allow. Then a block bootstrap within the rounds
// gives the width. On simulated rounds, 95-98 % of the intervals hold the truth.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coordinator/results/record.h"

namespace pareto::statistics {

/// One figure of one plan in one round.
struct RoundFigure {
  int round = 0;
  double logarithm = 0;  ///< natural, of the figure
  double error = 0;      ///< standard error of the logarithm, from the round's samples alone
};

/// Returns the median latency of each round; rounds without samples are left out. Seeded: the same
/// samples give the same errors.
std::vector<RoundFigure> latency_figures(std::span<const results::TrialRound> rounds);
/// Returns the slope of completions of each round, in samples/s; likewise.
std::vector<RoundFigure> throughput_figures(std::span<const results::TrialRound> rounds,
                                            std::int64_t batch);

std::vector<double> logarithms(std::span<const RoundFigure> figures);

/// A mean of logarithms, and what is known of its error.
struct LogEstimate {
  double logarithm = 0;
  double error = 0;    ///< standard error by how rounds differ …
  double degrees = 1;  ///< … and its degrees of freedom
  double within = 0;   ///< standard error by how samples differ within the rounds
};

/// Estimates the mean of at least two values, with its error and degrees of freedom.
LogEstimate estimate_mean(std::span<const double> values);
/// Returns the standard error of the mean of these rounds by their samples alone.
double error_within(std::span<const RoundFigure> figures);

enum class Confidence { k90, k95, k975 };
/// Returns the interval of the figure, not of its logarithm.
results::Interval interval_of(const LogEstimate& estimate, Confidence confidence);

/// Returns 95 % interval about a figure that these rounds are of: a factor up and down. Of one
/// round only what its samples say, which is nothing about the next round; of none the figure
/// itself.
results::Interval figure_interval(double figure, std::span<const RoundFigure> rounds);

}  // namespace pareto::statistics
