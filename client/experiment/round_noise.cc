#include "client/experiment/round_noise.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "client/experiment/statistics.h"
#include "client/experiment/statistics_student.h"

namespace pareto::client {
namespace {

/// Degrees of freedom that the pool is worth beside a plan's own rounds.
constexpr double kPoolWorth = 5;
/// Standard deviations of logarithms before rounds say anything, and how many degrees of freedom
/// each is worth.
constexpr double kLeftPrior = 0.015;
constexpr double kStatePrior = 0.04;
constexpr double kPriorWorth = 1.5;
/// A round's median differs by this share of what its requests differ by, as standard deviations.
constexpr double kShareOfSpread = 0.7;
/// The middle two thirds are two standard deviations of a normal distribution.
constexpr double kLowSpread = 0.1587;
constexpr int kTurns = 30;

double squared(double x) { return x * x; }

double prior_variance(double least, double spread) {
  return squared(least) + squared(kShareOfSpread * spread);
}

/// Levels of plans and states of rounds, fitted by turns. A round that only one plan has tells no
/// state.
class Fit {
 public:
  explicit Fit(std::span<const std::vector<SeenRound>> plans) : plans_(plans) {
    std::map<int, int> seen;
    for (const auto& plan : plans) {
      for (const SeenRound& round : plan) ++seen[round.round];
    }
    for (const auto& [round, times] : seen) {
      if (times > 1) states_[round] = 0;
    }
    levels_.resize(plans.size());
    for (int turn = 0; turn < kTurns; ++turn) {
      fit_levels();
      fit_states();
    }
    fit_levels();
  }

  double left(std::size_t plan, const SeenRound& round) const {
    return round.logarithm - levels_[plan] - state_of(round);
  }
  std::vector<double> states() const {
    std::vector<double> values;
    for (const auto& [round, value] : states_) values.push_back(value);
    return values;
  }

 private:
  double state_of(const SeenRound& round) const {
    const auto known = states_.find(round.round);
    return known != states_.end() ? known->second : 0;
  }
  void fit_levels() {
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      double sum = 0;
      for (const SeenRound& round : plans_[i]) sum += round.logarithm - state_of(round);
      levels_[i] = plans_[i].empty() ? 0 : sum / static_cast<double>(plans_[i].size());
    }
  }
  void fit_states() {
    std::map<int, std::pair<double, int>> sums;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      for (const SeenRound& round : plans_[i]) {
        sums[round.round].first += round.logarithm - levels_[i];
        sums[round.round].second += 1;
      }
    }
    double all = 0;
    for (auto& [round, value] : states_) {
      value = sums[round].first / sums[round].second;
      all += value / static_cast<double>(states_.size());
    }
    for (auto& [round, value] : states_) value -= all;
  }

  const std::span<const std::vector<SeenRound>> plans_;
  std::vector<double> levels_;
  std::map<int, double> states_;
};

std::size_t count_rounds(std::span<const std::vector<SeenRound>> plans) {
  std::set<int> rounds;
  for (const auto& plan : plans) {
    for (const SeenRound& round : plan) rounds.insert(round.round);
  }
  return rounds.size();
}

NoiseVariance state_noise(const std::vector<double>& states, double spread) {
  double squares = 0;
  for (const double state : states) squares += squared(state);
  const double degrees = states.empty() ? 0 : static_cast<double>(states.size()) - 1;
  return {(kPriorWorth * prior_variance(kStatePrior, spread) + squares) / (kPriorWorth + degrees),
          kPriorWorth + degrees};
}

/// Returns how many times the variance of the median of normal figures is that of their mean: 1 of
/// two figures, 1.4 of five or more.
double median_excess(std::size_t rounds) {
  return 1 + 0.1 * static_cast<double>(std::clamp<std::size_t>(rounds, 1, 5) - 1);
}

}  // namespace

std::vector<SeenRound> seen_latencies(const TrialRecord& trial) {
  std::vector<SeenRound> seen;
  for (const TrialRound& round : trial.rounds) {
    const double typical = median(round.latency_ms);
    if (typical > 0) seen.push_back({round.round, std::log(typical)});
  }
  return seen;
}

std::vector<SeenRound> seen_throughputs(const TrialRecord& trial) {
  std::vector<SeenRound> seen;
  for (const TrialRound& round : trial.rounds) {
    const double interval = mean(round.intervals_s);
    if (interval > 0) {
      seen.push_back({round.round, std::log(static_cast<double>(trial.batch) / interval)});
    }
  }
  return seen;
}

double request_spread(std::span<const TrialRecord* const> trials) {
  std::vector<double> spreads;
  for (const TrialRecord* const trial : trials) {
    for (const TrialRound& round : trial->rounds) {
      const double low = quantile(round.latency_ms, kLowSpread);
      const double high = quantile(round.latency_ms, 1 - kLowSpread);
      if (low > 0) spreads.push_back(std::log(high / low) / 2);
    }
  }
  return median(spreads);
}

RoundNoise learn_round_noise(std::span<const std::vector<SeenRound>> plans, double spread) {
  const Fit fit(plans);
  const std::vector<double> states = fit.states();
  RoundNoise noise{state_noise(states, spread), count_rounds(plans), {}};
  double squares = 0;
  double degrees = 0;  // as if there were no states
  for (std::size_t i = 0; i < plans.size(); ++i) {
    RoundNoise::Plan& plan = noise.plans.emplace_back();
    plan.rounds = plans[i].size();
    for (const SeenRound& round : plans[i]) plan.squares += squared(fit.left(i, round));
    squares += plan.squares;
    if (plan.rounds > 1) degrees += static_cast<double>(plan.rounds) - 1;
  }
  // The states took their share of the degrees.
  const double taken = states.empty() ? 0 : static_cast<double>(states.size()) - 1;
  const double share = degrees > 0 ? std::max(0.0, degrees - taken) / degrees : 0;
  const double known = degrees * share;
  const double pool =
      (kPriorWorth * prior_variance(kLeftPrior, spread) + squares) / (kPriorWorth + known);
  const double worth = std::min(kPoolWorth, kPriorWorth + known);
  for (RoundNoise::Plan& plan : noise.plans) {
    const double own = plan.rounds > 1 ? share * (static_cast<double>(plan.rounds) - 1) : 0;
    plan.left = {(worth * pool + plan.squares) / (worth + own), worth + own};
  }
  return noise;
}

FigureError operator+(const FigureError& a, const FigureError& b) {
  const double sum = a.variance + b.variance;
  if (sum <= 0) return {0, std::min(a.degrees, b.degrees)};
  return {sum, squared(sum) / (squared(a.variance) / a.degrees + squared(b.variance) / b.degrees)};
}

FigureError error_of(const RoundNoise& noise, std::size_t plan) {
  const RoundNoise::Plan& own = noise.plans[plan];
  const auto count = static_cast<double>(std::max<std::size_t>(own.rounds, 1));
  const double rounds = own.rounds > 2 ? count / median_excess(own.rounds) : count;
  return FigureError{own.left.value / rounds, own.left.degrees} +
         FigureError{noise.state.value / rounds, noise.state.degrees};
}

Interval interval_about(double figure, const FigureError& error) {
  constexpr double kUpperEnd = 0.975;
  const double half = student_quantile(kUpperEnd, error.degrees) * std::sqrt(error.variance);
  return {figure * std::exp(-half), figure * std::exp(half)};
}

}  // namespace pareto::client
