#include "coordinator/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace pareto::statistics {
namespace {

constexpr double kLow = 0.025;
constexpr double kHigh = 0.975;

/// One resample in blocks of random (geometric) length, wrapping around (Politis and Romano 1994).
void resample(std::span<const double> samples, double block, Random& random,
              std::vector<double>& into) {
  into.clear();
  std::size_t at = random.below(samples.size());
  while (into.size() < samples.size()) {
    into.push_back(samples[at]);
    at = random.uniform() * block < 1 ? random.below(samples.size()) : (at + 1) % samples.size();
  }
}

double block_length(std::span<const double> samples) {
  const double wanted = 5 * correlation_length(samples);
  return std::clamp(wanted, 1.0, std::max(1.0, static_cast<double>(samples.size()) / 3));
}

results::Interval interval_of(std::vector<double>& values) {
  std::ranges::sort(values);
  return {results::quantile_of_sorted(values, kLow), results::quantile_of_sorted(values, kHigh)};
}

/// Returns the statistic of each resample.
std::vector<double> bootstrap(std::span<const double> samples, const Statistic& statistic,
                              std::uint64_t seed, int replicates) {
  const double block = block_length(samples);
  Random random(seed);
  std::vector<double> drawn;
  std::vector<double> values;
  for (int i = 0; i < replicates; ++i) {
    resample(samples, block, random, drawn);
    values.push_back(statistic(drawn));
  }
  return values;
}

double slope(std::span<const double> intervals_s, std::int64_t batch) {
  const double interval = mean(intervals_s);
  return interval > 0 ? static_cast<double>(batch) / interval : 0;
}

struct Point {
  double latency = 0;
  double throughput = 0;
};

bool beats(const Point& a, const Point& b) {
  if (a.latency > b.latency || a.throughput < b.throughput) return false;
  return a.latency * (1 + results::kFrontTolerance) < b.latency ||
         a.throughput > b.throughput * (1 + results::kFrontTolerance);
}

/// One round of one trial, and how long its blocks are.
struct Unit {
  std::span<const double> latency_ms;
  std::span<const double> intervals_s;
  double latency_block = 1;
  double interval_block = 1;
};

/// One trial.
struct Units {
  std::vector<Unit> rounds;
  std::vector<std::size_t> own;  ///< places of those that it does not lack
};

Units units_of(const RoundSamples& trial) {
  Units units;
  for (std::size_t i = 0; i < trial.latency_ms.size(); ++i) {
    const std::vector<double>& latency = trial.latency_ms[i];
    const std::vector<double>& intervals = trial.intervals_s[i];
    units.rounds.push_back({latency, intervals, block_length(latency), block_length(intervals)});
    if (!latency.empty() || !intervals.empty()) units.own.push_back(i);
  }
  return units;
}

/// Returns a trial's figures in one resample: of the drawn rounds, and of the samples within them.
Point point_of(const Units& units, std::span<const std::size_t> rounds, Random& random,
               std::vector<double>& scratch) {
  if (units.own.empty()) return {std::numeric_limits<double>::infinity(), 0};
  std::vector<double> latency;
  std::vector<double> throughput;
  for (const std::size_t drawn : rounds) {
    const bool has = std::ranges::binary_search(units.own, drawn);
    const Unit& unit = units.rounds[has ? drawn : units.own[random.below(units.own.size())]];
    if (!unit.latency_ms.empty()) {
      resample(unit.latency_ms, unit.latency_block, random, scratch);
      latency.insert(latency.end(), scratch.begin(), scratch.end());
    }
    if (!unit.intervals_s.empty()) {
      resample(unit.intervals_s, unit.interval_block, random, scratch);
      throughput.push_back(slope(scratch, 1));
    }
  }
  return {median(latency), median(throughput)};
}

/// Moves a point by what its few rounds cannot tell.
void move(Point& point, const FewRounds& few, Random& random) {
  double squares = 0;
  const int degrees = std::max(1, static_cast<int>(few.degrees));
  for (int i = 0; i < degrees; ++i) {
    const double drawn = random.normal();
    squares += drawn * drawn;
  }
  const double scale = std::sqrt(degrees / std::max(squares, 1e-3));
  const double slow = random.normal();
  const double rest = std::sqrt(1 - kFiguresCorrelation * kFiguresCorrelation) * random.normal();
  point.latency *= std::exp(few.latency * scale * slow);
  point.throughput *= std::exp(few.throughput * scale * (rest - kFiguresCorrelation * slow));
}

}  // namespace

double median(std::span<const double> samples) { return results::quantile(samples, 0.5); }

double mean(std::span<const double> samples) {
  if (samples.empty()) return 0;
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t Random::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

std::size_t Random::below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double Random::normal() {
  // Box and Muller 1958; half of it.
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

std::vector<std::size_t> Random::permutation(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[below(i)]);
  return order;
}

double correlation_length(std::span<const double> samples) {
  const std::size_t n = samples.size();
  if (n < 4) return 1;
  const double centre = mean(samples);
  double variance = 0;
  for (const double x : samples) variance += (x - centre) * (x - centre);
  if (variance <= 0) return 1;
  const double noise = 2 / std::sqrt(static_cast<double>(n));
  double length = 1;
  for (std::size_t lag = 1; lag < n / 2; ++lag) {
    double covariance = 0;
    for (std::size_t i = lag; i < n; ++i) {
      covariance += (samples[i] - centre) * (samples[i - lag] - centre);
    }
    const double correlation = covariance / variance;
    if (correlation < noise) break;
    length += 2 * correlation;
  }
  return length;
}

results::Interval bootstrap_interval(std::span<const double> samples, const Statistic& statistic,
                                     std::uint64_t seed, int replicates) {
  if (samples.size() < 2) {
    const double only = statistic(samples);
    return {only, only};
  }
  std::vector<double> values = bootstrap(samples, statistic, seed, replicates);
  return interval_of(values);
}

double bootstrap_error(std::span<const double> samples, const Statistic& statistic,
                       std::uint64_t seed, int replicates) {
  if (samples.size() < 2 || replicates < 2) return 0;
  const std::vector<double> values = bootstrap(samples, statistic, seed, replicates);
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / (replicates - 1));
}

int warm_up_requests(int window) { return std::max(2 * window, 10); }

bool is_level(std::span<const double> samples, std::uint64_t seed) {
  if (samples.size() < 4) return false;
  const auto first = samples.first(samples.size() / 2);
  const auto second = samples.subspan(samples.size() / 2);
  const double before = median(first);
  const double after = median(second);
  if (std::abs(before - after) <= 0.01 * std::max(before, after)) return true;
  Random random(seed);
  std::vector<double> drawn;
  std::vector<double> differences;
  const double first_block = block_length(first);
  const double second_block = block_length(second);
  for (int i = 0; i < 200; ++i) {
    resample(first, first_block, random, drawn);
    const double left = median(drawn);
    resample(second, second_block, random, drawn);
    differences.push_back(left - median(drawn));
  }
  const results::Interval interval = interval_of(differences);
  return interval.low <= 0 && interval.high >= 0;
}

std::vector<double> steady_intervals(std::span<const double> completions_s, int window, int fill,
                                     int drain) {
  std::vector<double> intervals;
  for (std::size_t i = static_cast<std::size_t>(fill) + 1;
       i + static_cast<std::size_t>(drain) < completions_s.size(); ++i) {
    intervals.push_back(completions_s[i] - completions_s[i - 1]);
  }
  intervals.resize(intervals.size() - intervals.size() % static_cast<std::size_t>(window));
  return intervals;
}

std::vector<double> steady_intervals(std::span<const double> completions_s, int window) {
  return steady_intervals(completions_s, window, 2 * window, window);
}

std::vector<double> median_run(std::span<const double> intervals_s, std::size_t length) {
  std::vector<std::pair<double, std::size_t>> runs;  // how long, and which
  for (const double time : run_times(intervals_s, length)) runs.emplace_back(time, runs.size());
  if (runs.empty()) return {};
  std::ranges::sort(runs);
  const auto run = intervals_s.subspan(runs[(runs.size() - 1) / 2].second * length, length);
  return {run.begin(), run.end()};
}

std::vector<double> run_times(std::span<const double> intervals_s, std::size_t length) {
  std::vector<double> times;
  for (std::size_t begin = 0; length > 0 && begin + length <= intervals_s.size(); begin += length) {
    const auto run = intervals_s.subspan(begin, length);
    times.push_back(std::accumulate(run.begin(), run.end(), 0.0));
  }
  return times;
}

std::vector<double> throughput_of_rounds(const std::vector<std::vector<double>>& intervals_s,
                                         std::int64_t batch) {
  std::vector<double> slopes;
  for (const std::vector<double>& round : intervals_s) slopes.push_back(slope(round, batch));
  return slopes;
}

results::Interval throughput_interval(const std::vector<std::vector<double>>& intervals_s,
                                      std::int64_t batch, std::uint64_t seed, int replicates) {
  std::vector<double> blocks;
  for (const std::vector<double>& round : intervals_s) blocks.push_back(block_length(round));
  Random random(seed);
  std::vector<double> drawn;
  std::vector<double> values;
  for (int i = 0; i < replicates; ++i) {
    std::vector<double> slopes;
    for (std::size_t j = 0; j < intervals_s.size(); ++j) {
      const std::size_t round = random.below(intervals_s.size());
      if (intervals_s[round].empty()) continue;
      resample(intervals_s[round], blocks[round], random, drawn);
      slopes.push_back(slope(drawn, batch));
    }
    values.push_back(median(slopes));
  }
  return interval_of(values);
}

std::vector<double> front_probability(const std::vector<RoundSamples>& trials, std::uint64_t seed,
                                      std::span<const FewRounds> few, int replicates) {
  std::vector<double> share(trials.size(), 0);
  std::vector<int> unbeaten(trials.size(), 0);
  std::size_t rounds = 0;
  std::size_t most = 0;  // that a trial has
  std::vector<Units> units;
  for (const RoundSamples& trial : trials) {
    units.push_back(units_of(trial));
    rounds = std::max(rounds, units.back().rounds.size());
    most = std::max(most, units.back().own.size());
  }
  if (most == 0 || replicates < 1) return share;
  Random random(seed);
  std::vector<std::size_t> drawn(most);
  std::vector<double> scratch;
  std::vector<Point> points(trials.size());
  for (int replicate = 0; replicate < replicates; ++replicate) {
    for (std::size_t& round : drawn) round = random.below(rounds);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      points[i] = point_of(units[i], drawn, random, scratch);
      if (!few.empty()) move(points[i], few[i], random);
    }
    for (std::size_t i = 0; i < trials.size(); ++i) {
      const bool beaten =
          std::ranges::any_of(points, [&](const Point& other) { return beats(other, points[i]); });
      if (!beaten) ++unbeaten[i];
    }
  }
  for (std::size_t i = 0; i < trials.size(); ++i) {
    share[i] = static_cast<double>(unbeaten[i]) / replicates;
  }
  return share;
}

}  // namespace pareto::statistics
