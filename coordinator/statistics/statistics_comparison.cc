#include "coordinator/statistics/statistics_comparison.h"

#include <algorithm>
#include <cmath>

#include "coordinator/statistics/statistics.h"

namespace pareto::statistics {
namespace {

void set_intervals(Ratio& ratio, const LogEstimate& estimate) {
  ratio.ci975 = interval_of(estimate, Confidence::k975);
  ratio.ci90 = interval_of(estimate, Confidence::k90);
}

void set_figures(Ratio& ratio, std::span<const double> logarithms_a,
                 std::span<const double> logarithms_b) {
  ratio.a = std::exp(mean(logarithms_a));
  ratio.b = std::exp(mean(logarithms_b));
  ratio.value = std::exp(mean(logarithms_b) - mean(logarithms_a));
}

/// Returns the interval with "larger is worse", whatever the figure.
results::Interval as_cost(const results::Interval& ratio, planning::Direction direction) {
  if (direction == planning::Direction::kSmallerIsBetter) return ratio;
  return {1 / ratio.high, 1 / ratio.low};
}

}  // namespace

Ratio paired_ratio(std::span<const RoundFigure> a, std::span<const RoundFigure> b) {
  std::vector<RoundFigure> both;
  std::vector<double> values_a;
  std::vector<double> values_b;
  for (const RoundFigure& figure : a) {
    const auto other = std::ranges::find(b, figure.round, &RoundFigure::round);
    if (other == b.end()) continue;
    both.push_back({figure.round, other->logarithm - figure.logarithm,
                    std::hypot(figure.error, other->error)});
    values_a.push_back(figure.logarithm);
    values_b.push_back(other->logarithm);
  }
  const auto rounds = static_cast<int>(both.size());
  Ratio ratio{.rounds_a = rounds, .rounds_b = rounds, .paired = true};
  if (rounds == 0) return ratio;
  set_figures(ratio, values_a, values_b);
  if (rounds < 2) return ratio;
  const std::vector<double> differences = logarithms(both);
  LogEstimate estimate = estimate_mean(differences);
  estimate.within = error_within(both);
  set_intervals(ratio, estimate);
  return ratio;
}

Ratio unpaired_ratio(std::span<const RoundFigure> a, std::span<const RoundFigure> b) {
  Ratio ratio{.rounds_a = static_cast<int>(a.size()), .rounds_b = static_cast<int>(b.size())};
  if (a.empty() || b.empty()) return ratio;
  const std::vector<double> values_a = logarithms(a);
  const std::vector<double> values_b = logarithms(b);
  set_figures(ratio, values_a, values_b);
  if (a.size() < 2 || b.size() < 2) return ratio;
  const LogEstimate mean_a = estimate_mean(values_a);
  const LogEstimate mean_b = estimate_mean(values_b);
  LogEstimate estimate;
  estimate.logarithm = mean_b.logarithm - mean_a.logarithm;
  estimate.error = std::hypot(mean_a.error, mean_b.error);
  if (estimate.error > 0) {
    // Welch and Satterthwaite's degrees, between the smaller of the two and their sum.
    const double share = std::pow(mean_a.error / estimate.error, 2);
    estimate.degrees =
        1 / (share * share / mean_a.degrees + (1 - share) * (1 - share) / mean_b.degrees);
  }
  estimate.within = std::hypot(error_within(a), error_within(b));
  set_intervals(ratio, estimate);
  return ratio;
}

Ratio allow_for(Ratio ratio, double factor) {
  for (std::optional<results::Interval>* const interval : {&ratio.ci975, &ratio.ci90}) {
    if (!*interval) continue;
    (*interval)->low *= std::min(1.0, factor);
    (*interval)->high *= std::max(1.0, factor);
  }
  return ratio;
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFaster:
      return "faster";
    case Verdict::kSlower:
      return "slower";
    case Verdict::kSame:
      return "same";
    case Verdict::kCannotTell:
      break;
  }
  return "can't tell";
}

Verdict judge(const Ratio& ratio, planning::Direction direction, double tolerance) {
  if (!ratio.ci975 || !ratio.ci90) return Verdict::kCannotTell;
  const results::Interval& narrow = *ratio.ci90;
  if (tolerance > 0 && narrow.high <= 1 + tolerance && narrow.low * (1 + tolerance) >= 1) {
    return Verdict::kSame;
  }
  const results::Interval cost = as_cost(*ratio.ci975, direction);
  if (cost.high < 1) return Verdict::kFaster;
  if (cost.low > 1) return Verdict::kSlower;
  return Verdict::kCannotTell;
}

bool is_regression(const Ratio& ratio, planning::Direction direction, double tolerance) {
  return ratio.ci975 && as_cost(*ratio.ci975, direction).low > 1 + tolerance;
}

}  // namespace pareto::statistics
