#include "coordinator/statistics/statistics_rounds.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "coordinator/statistics/statistics.h"
#include "coordinator/statistics/statistics_student.h"

namespace pareto::statistics {
namespace {

constexpr std::uint64_t kSeed = 20'260'131;

/// The quantile of an interval's upper end.
struct Quantile {
  double probability = 0;
  double normal = 0;
};
/// Quantiles in the order of Confidence.
constexpr std::array kQuantiles{Quantile{0.95, 1.644854}, Quantile{0.975, 1.959964},
                                Quantile{0.9875, 2.241403}};

void add_figure(int round, std::span<const double> samples, const Statistic& logarithm,
                std::vector<RoundFigure>& figures) {
  if (samples.empty()) return;
  const double value = logarithm(samples);
  if (!std::isfinite(value)) return;
  const std::uint64_t seed = kSeed + static_cast<std::uint64_t>(round);
  figures.push_back({round, value, bootstrap_error(samples, logarithm, seed)});
}

}  // namespace

std::vector<RoundFigure> latency_figures(std::span<const results::TrialRound> rounds) {
  const Statistic logarithm = [](std::span<const double> samples) {
    return std::log(median(samples));
  };
  std::vector<RoundFigure> figures;
  for (const results::TrialRound& round : rounds) {
    add_figure(round.round, round.latency_ms, logarithm, figures);
  }
  return figures;
}

std::vector<RoundFigure> throughput_figures(std::span<const results::TrialRound> rounds,
                                            std::int64_t batch) {
  const Statistic logarithm = [batch](std::span<const double> intervals_s) {
    return std::log(static_cast<double>(batch) / mean(intervals_s));
  };
  std::vector<RoundFigure> figures;
  for (const results::TrialRound& round : rounds) {
    add_figure(round.round, round.intervals_s, logarithm, figures);
  }
  return figures;
}

std::vector<double> logarithms(std::span<const RoundFigure> figures) {
  std::vector<double> values;
  for (const RoundFigure& figure : figures) values.push_back(figure.logarithm);
  return values;
}

LogEstimate estimate_mean(std::span<const double> values) {
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  const auto count = static_cast<double>(values.size());
  return {
      .logarithm = centre, .error = std::sqrt(squares / (count - 1) / count), .degrees = count - 1};
}

double error_within(std::span<const RoundFigure> figures) {
  double squares = 0;
  for (const RoundFigure& figure : figures) squares += figure.error * figure.error;
  return figures.empty() ? 0 : std::sqrt(squares) / static_cast<double>(figures.size());
}

results::Interval interval_of(const LogEstimate& estimate, Confidence confidence) {
  const Quantile& quantile = kQuantiles.at(static_cast<std::size_t>(confidence));
  // Many samples: normal. Few rounds: Student's.
  double half = quantile.normal * estimate.within;
  if (estimate.error > 0) {
    half =
        std::max(half, student_quantile(quantile.probability, estimate.degrees) * estimate.error);
  }
  return {std::exp(estimate.logarithm - half), std::exp(estimate.logarithm + half)};
}

results::Interval figure_interval(double figure, std::span<const RoundFigure> rounds) {
  LogEstimate estimate;
  if (rounds.size() > 1) estimate = estimate_mean(logarithms(rounds));
  // About the figure as it is printed, which need not be the geometric mean of the rounds.
  estimate.logarithm = 0;
  estimate.within = error_within(rounds);
  const results::Interval factor = interval_of(estimate, Confidence::k95);
  return {figure * factor.low, figure * factor.high};
}

}  // namespace pareto::statistics
