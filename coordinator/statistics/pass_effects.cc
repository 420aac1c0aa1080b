#include "coordinator/statistics/pass_effects.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "coordinator/statistics/squared.h"

namespace pareto::statistics {
namespace {

constexpr int kEffectTurns = 25;
constexpr double kTailDegrees = 4;
/// The values assumed before anything is measured, as standard deviations of logarithms, and how
/// many observations each is worth.
constexpr double kNoisePrior = 0.015;
constexpr double kNoiseWorth = 1.5;
constexpr double kPassPrior = 0.015;
constexpr double kPassWorth = 4;
constexpr double kPlanWorth = 5;
/// Shards that are loaded again are a little faster or slower for good: rounds of one loading never
/// tell, several loadings do.
constexpr double kLoading = 0.003;

using PassKey = std::pair<int, int>;  // group and pass

struct Effect {
  double value = 0;
  double variance = 0;
};

/// The effects of plans and passes, each estimated from what the others leave.
///
/// Threads: one owner.
class Backfitting {
 public:
  explicit Backfitting(std::span<const PassObservation> observations)
      : observations_(observations), weights_(observations.size(), 1.0) {
    for (const PassObservation& seen : observations) {
      plans_[seen.plan];
      passes_[{seen.group, seen.pass}];
      noise_[seen.group] = squared(kNoisePrior);
      pass_variance_[seen.group] = squared(kPassPrior);
    }
  }

  PassEstimates run() {
    for (int turn = 0; turn < kEffectTurns; ++turn) {
      fit_plans();
      fit_passes();
      learn_variances();
    }
    fit_plans();
    PassEstimates estimates{{}, noise_};
    for (const auto& [plan, effect] : plans_) {
      estimates.plans.push_back({plan, effect.value, effect.variance});
    }
    return estimates;
  }

 private:
  double variance_of(std::size_t i) const {
    const PassObservation& seen = observations_[i];
    const auto own = plan_noise_.find(seen.plan);
    const double noise = own != plan_noise_.end() ? own->second : noise_.at(seen.group);
    return std::max(noise, squared(seen.error)) / weights_[i];
  }

  void fit_plans() {
    struct Sum {
      double weight = 0;
      double value = 0;
      double passes = 0;                 // weight² × variance of the pass
      std::map<int, double> loadings{};  // weight of each
    };
    std::map<std::size_t, Sum> sums;
    for (std::size_t i = 0; i < observations_.size(); ++i) {
      const PassObservation& seen = observations_[i];
      const Effect& pass = passes_.at({seen.group, seen.pass});
      const double weight = 1 / variance_of(i);
      Sum& sum = sums[seen.plan];
      sum.weight += weight;
      sum.value += weight * (seen.logarithm - pass.value);
      sum.passes += squared(weight) * pass.variance;
      sum.loadings[seen.loading] += weight;
    }
    for (const auto& [plan, sum] : sums) {
      double loadings = 0;
      for (const auto& [loading, weight] : sum.loadings) loadings += squared(weight);
      plans_[plan] = {
          sum.value / sum.weight,
          1 / sum.weight + (sum.passes + squared(kLoading) * loadings) / squared(sum.weight)};
    }
  }

  void fit_passes() {
    std::map<PassKey, std::pair<double, double>> sums;
    for (std::size_t i = 0; i < observations_.size(); ++i) {
      const PassObservation& seen = observations_[i];
      const double weight = 1 / variance_of(i);
      auto& [all, value] = sums[{seen.group, seen.pass}];
      all += weight;
      value += weight * (seen.logarithm - plans_.at(seen.plan).value);
    }
    for (const auto& [key, sum] : sums) {
      const double precision = sum.first + 1 / pass_variance_.at(key.first);
      passes_[key] = {sum.second / precision, 1 / precision};
    }
  }

  void learn_variances() {
    std::map<int, std::pair<double, double>> by_group;  // sum of squares, degrees
    std::map<std::size_t, std::pair<double, int>> by_plan;
    for (std::size_t i = 0; i < observations_.size(); ++i) {
      const PassObservation& seen = observations_[i];
      const double residual =
          seen.logarithm - plans_.at(seen.plan).value - passes_.at({seen.group, seen.pass}).value;
      const double variance = variance_of(i) * weights_[i];
      weights_[i] = (kTailDegrees + 1) / (kTailDegrees + squared(residual) / variance);
      const double square = weights_[i] * squared(residual);
      by_group[seen.group].first += square;
      by_group[seen.group].second += 1;
      by_plan[seen.plan].first += square;
      by_plan[seen.plan].second += 1;
    }
    std::map<std::size_t, int> group_of;
    for (const PassObservation& seen : observations_) group_of[seen.plan] = seen.group;
    for (const auto& [plan, group] : group_of) by_group[group].second -= 1;
    for (const auto& [group, sum] : by_group) {
      noise_[group] = (kNoiseWorth * squared(kNoisePrior) + sum.first) /
                      (kNoiseWorth + std::max(0.0, sum.second));
    }
    for (const auto& [plan, sum] : by_plan) {
      plan_noise_[plan] = (kPlanWorth * noise_.at(group_of.at(plan)) + sum.first) /
                          (kPlanWorth + static_cast<double>(sum.second) - 1);
    }
    std::map<int, std::pair<double, int>> passes;
    for (const auto& [key, pass] : passes_) {
      passes[key.first].first += squared(pass.value) + pass.variance;
      passes[key.first].second += 1;
    }
    for (const auto& [group, sum] : passes) {
      pass_variance_[group] = (kPassWorth * squared(kPassPrior) + sum.first) /
                              (kPassWorth + static_cast<double>(sum.second));
    }
  }

  const std::span<const PassObservation> observations_;
  std::vector<double> weights_;
  std::map<std::size_t, Effect> plans_;
  std::map<PassKey, Effect> passes_;
  std::map<int, double> noise_;
  std::map<std::size_t, double> plan_noise_;
  std::map<int, double> pass_variance_;
};

}  // namespace

double PassEstimates::round_variance(int group) const {
  const auto known = round_variances.find(group);
  return known != round_variances.end() ? known->second : squared(kNoisePrior);
}

PassEstimates estimate_plans(std::span<const PassObservation> observations) {
  return Backfitting(observations).run();
}

}  // namespace pareto::statistics
