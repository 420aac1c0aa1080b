#include "coordinator/statistics/round_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "coordinator/statistics/squared.h"
#include "coordinator/statistics/statistics.h"
#include "coordinator/statistics/statistics_student.h"

namespace pareto::statistics {
namespace {

/// Degrees of freedom that the pool is worth next to a plan's own rounds.
constexpr double kPoolWorth = 5;
/// Standard deviations of logarithms before rounds say anything, and how many degrees of freedom
/// each is worth.
constexpr double kLeftPrior = 0.015;
constexpr double kStatePrior = 0.04;
constexpr double kPriorWorth = 1.5;
/// A round's median differs by this share of what its requests differ by, as standard deviations.
constexpr double kShareOfSpread = 0.5;
constexpr int kNoiseTurns = 30;

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
    for (int turn = 0; turn < kNoiseTurns; ++turn) {
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
    std::map<int, std::vector<double>> above;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      for (const SeenRound& round : plans_[i]) {
        above[round.round].push_back(round.logarithm - levels_[i]);
      }
    }
    double all = 0;
    for (auto& [round, value] : states_) {
      // What disturbed one plan is not the state of all.
      value = median(above[round]);
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

double degrees_of(const std::vector<double>& values) {
  return values.empty() ? 0 : static_cast<double>(values.size()) - 1;
}

/// `error`: the variance of the states' own errors, by what is left of the plans that they are of.
NoiseVariance state_noise(const std::vector<double>& states, double error, double spread) {
  const double degrees = degrees_of(states);
  double squares = 0;
  for (const double state : states) squares += squared(state);
  squares = std::max(0.0, squares - degrees * error);
  return {(kPriorWorth * prior_variance(kStatePrior, spread) + squares) / (kPriorWorth + degrees),
          kPriorWorth + degrees};
}

/// Returns the largest size that counts: three standard deviations, by the median size. A round
/// that disturbed one plan says little of others.
double largest_size(const std::vector<double>& sizes, double degrees) {
  constexpr double kMedianSize = 0.6745;  // of a standard normal distribution
  constexpr double kFar = 3;
  if (degrees <= 0) return 0;
  const auto count = static_cast<double>(sizes.size());
  return kFar * median(sizes) / kMedianSize * std::sqrt(count / degrees);
}

double sum_of_squares(const std::vector<double>& sizes, double largest) {
  double sum = 0;
  for (const double size : sizes) sum += squared(std::min(size, largest));
  return sum;
}

/// Returns how many times the variance of the median of that number of rounds is that of their
/// mean: 1.2 for three normal figures, 1.4 for five or more. The median of two rounds is one of
/// their requests together, and not the mean of both: that costs nearly as much as a third round
/// brings.
double median_excess(std::size_t rounds) {
  constexpr std::array kExcess{1.0, 1.15, 1.2, 1.3, 1.4};
  return kExcess.at(std::clamp<std::size_t>(rounds, 1, kExcess.size()) - 1);
}

}  // namespace

std::vector<SeenRound> seen_latencies(const results::TrialRecord& trial) {
  std::vector<SeenRound> seen;
  for (const results::TrialRound& round : trial.rounds) {
    const double typical = median(round.latency_ms);
    if (typical > 0) seen.push_back({round.round, std::log(typical)});
  }
  return seen;
}

std::vector<SeenRound> seen_throughputs(const results::TrialRecord& trial) {
  std::vector<SeenRound> seen;
  for (const results::TrialRound& round : trial.rounds) {
    const double interval = mean(round.intervals_s);
    if (interval > 0) {
      seen.push_back({round.round, std::log(static_cast<double>(trial.batch) / interval)});
    }
  }
  return seen;
}

double request_spread(std::span<const results::TrialRecord* const> trials) {
  std::vector<double> spreads;
  for (const results::TrialRecord* const trial : trials) {
    for (const results::TrialRound& round : trial->rounds) {
      std::vector<double> logarithms;
      for (const double ms : round.latency_ms) {
        if (ms > 0) logarithms.push_back(std::log(ms));
      }
      const double centre = mean(logarithms);
      for (double& logarithm : logarithms) logarithm = squared(logarithm - centre);
      spreads.push_back(std::sqrt(mean(logarithms)));
    }
  }
  return median(spreads);
}

RoundNoise learn_round_noise(std::span<const std::vector<SeenRound>> plans, double spread) {
  const Fit fit(plans);
  const std::vector<double> states = fit.states();
  std::vector<std::vector<double>> left;  // sizes of what is left, by plan
  std::vector<double> all;                // of plans that have two rounds or more
  double degrees = 0;                     // as if there were no states
  for (std::size_t i = 0; i < plans.size(); ++i) {
    std::vector<double>& own = left.emplace_back();
    for (const SeenRound& round : plans[i]) own.push_back(std::abs(fit.left(i, round)));
    degrees += degrees_of(own);
    if (own.size() > 1) all.insert(all.end(), own.begin(), own.end());
  }
  // The states took their share of the degrees.
  const double share = degrees > 0 ? std::max(0.0, 1 - degrees_of(states) / degrees) : 0;
  const double known = degrees * share;
  const double largest = largest_size(all, known);
  const double pool =
      (kPriorWorth * prior_variance(kLeftPrior, spread) + sum_of_squares(all, largest)) /
      (kPriorWorth + known);
  const double worth = std::min(kPoolWorth, kPriorWorth + known);
  const double crowd =
      std::max(1.0, static_cast<double>(all.size()) / std::max(1.0, degrees_of(states) + 1));
  RoundNoise noise{state_noise(states, pool / crowd, spread), count_rounds(plans), {}};
  for (const std::vector<double>& sizes : left) {
    constexpr double kUnbounded = std::numeric_limits<double>::infinity();
    const double squares = sum_of_squares(sizes, kUnbounded);
    const double own = share * degrees_of(sizes);
    // A disturbed one of three rounds does not move their median; one of two does. A plan that has
    // more rounds than the pool is worth says for itself what is far.
    const bool bounded = sizes.size() > 2 && degrees_of(sizes) <= kPoolWorth;
    const double counted = bounded ? sum_of_squares(sizes, largest) : squares;
    noise.plans.push_back(
        {{(worth * pool + counted) / (worth + own), worth + own}, squares, sizes.size()});
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
  const double rounds = count / median_excess(own.rounds);
  return FigureError{own.left.value / rounds, own.left.degrees} +
         FigureError{noise.state.value / rounds, noise.state.degrees};
}

results::Interval interval_about(double figure, const FigureError& error) {
  constexpr double kUpperEnd = 0.975;
  const double half = student_quantile(kUpperEnd, error.degrees) * std::sqrt(error.variance);
  return {figure * std::exp(-half), figure * std::exp(half)};
}

}  // namespace pareto::statistics
