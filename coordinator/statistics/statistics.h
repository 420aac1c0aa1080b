// Statistics of samples: quantiles, intervals that allow for similar neighbours, warm-up,
// throughput as a slope, and the certainty of a place on the front. Pure functions; seeded, and the
// same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "coordinator/results/quantile.h"
#include "coordinator/results/record.h"

namespace pareto::statistics {

/// Returns the median; 0 for no samples, and so is the mean.
double median(std::span<const double> samples);
double mean(std::span<const double> samples);

/// Correlation of a plan's latency with its throughput, if few rounds tell little of both: a slow
/// plan is unproductive by half.
inline constexpr double kFiguresCorrelation = 0.5;

/// Uniform integers from a seed, equal on every platform (the standard's distributions are not).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// Returns a number in [0, bound); bound >= 1.
  std::size_t below(std::size_t bound);
  /// Returns a number in [0, 1).
  double uniform();
  /// Draws from the standard normal distribution.
  double normal();
  /// Returns a random order of 0 … count-1.
  std::vector<std::size_t> permutation(std::size_t count);

 private:
  std::uint64_t state_;
};

/// Returns how many neighbouring samples tell the same story: 1 + 2 Σ autocorrelation, summed while
/// it is above its noise. At least 1.
double correlation_length(std::span<const double> samples);

using Statistic = std::function<double(std::span<const double>)>;

/// Returns the 95 % interval of the statistic by a stationary block bootstrap. Blocks wrap around
/// and have a random length, of mean max(1, 5 × correlation length), at most a third of the
/// samples. For fewer than 2 samples, both ends are the statistic itself.
results::Interval bootstrap_interval(std::span<const double> samples, const Statistic& statistic,
                                     std::uint64_t seed, int replicates = 400);
/// Returns the standard deviation of the statistic over such resamples; 0 for fewer than 2 samples.
double bootstrap_error(std::span<const double> samples, const Statistic& statistic,
                       std::uint64_t seed, int replicates = 200);

/// Returns the number of requests that are discarded before anything is measured: max(2 × window,
/// 10).
int warm_up_requests(int window);
/// Returns whether samples taken after the warm-up look level. The medians of their halves differ
/// by at most 1 %, or the 95 % interval of the difference includes 0. With fewer than 4 samples it
/// returns false.
bool is_level(std::span<const double> samples, std::uint64_t seed);

/// Returns the intervals between completions, without the first `fill` and the last `drain`, for as
/// many whole windows as there are. `completions_s` are ascending. If only the window holds
/// requests up, they come back in bursts of a window, and a part of a burst has no slope. Empty if
/// there is no whole window.
std::vector<double> steady_intervals(std::span<const double> completions_s, int window, int fill,
                                     int drain);
/// Returns the intervals between fill and drain. The fill is 2 × window. Nothing is sent any more
/// while the last `window` complete: they are the drain.
std::vector<double> steady_intervals(std::span<const double> completions_s, int window);

/// Returns that of consecutive runs of `length` (1 or more) intervals which takes the median time;
/// of an even number the shorter one of the middle two. Empty where there is no whole one; what is
/// left over at the end is left out.
std::vector<double> median_run(std::span<const double> intervals_s, std::size_t length);
/// Returns the time of each run of `length` intervals (at least one), one after the other; what is
/// left over is none.
std::vector<double> run_times(std::span<const double> intervals_s, std::size_t length);

/// Returns the slope of each round, in samples/s: `batch` samples a completion. A round without
/// intervals is 0.
std::vector<double> throughput_of_rounds(const std::vector<std::vector<double>>& intervals_s,
                                         std::int64_t batch);
/// Returns 95 % interval of the median round: rounds resampled, and within each its intervals in
/// blocks.
results::Interval throughput_interval(const std::vector<std::vector<double>>& intervals_s,
                                      std::int64_t batch, std::uint64_t seed, int replicates = 400);

/// One trial as the front sees it: its samples, a list a round. Rounds are the same ones for all
/// trials; what a trial lacks of them is empty, or of the last ones not there. It stands in for
/// these with any of its own: what a round did to others says nothing of it.
struct RoundSamples {
  std::vector<std::vector<double>> latency_ms;   ///< [round][request]
  std::vector<std::vector<double>> intervals_s;  ///< [round][completion], as many rounds
};

/// The uncertainty that a trial's few rounds do not show, beyond what resampling them shows.
/// Standard deviations of logarithms.
struct FewRounds {
  double latency = 0;
  double throughput = 0;
  double degrees = 1;  ///< degrees of freedom: how well they are known
};

/// Returns for each trial the share of bootstrap resamples in which no other trial beats it. The
/// trials are of one batch and condition.
/// - A trial beats another if it is not worse in either figure, and better by more than
///   kFrontTolerance in one. Here epsilon makes it harder to be dominated. (Laumanns et al., 2002,
///   use the word for the reverse, under which two equal plans would drive each other off the
///   front.)
/// - A resample draws rounds, the same ones for all trials, because trials share what happened in a
///   round. In each round it draws blocks of each trial's samples (Davison and Hinkley 1997, 3.8),
///   because three rounds have only ten different resamples.
/// - With `few`, one for each trial, a resample also moves a trial's two figures by a draw of
///   Student's t. A slow trial is then less productive.
std::vector<double> front_probability(const std::vector<RoundSamples>& trials, std::uint64_t seed,
                                      std::span<const FewRounds> few = {}, int replicates = 200);

}  // namespace pareto::statistics
