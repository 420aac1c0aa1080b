#include "coordinator/statistics/residual_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "coordinator/statistics/feature_distance.h"
#include "coordinator/statistics/squared.h"

namespace pareto::statistics {
namespace {

double matern(double distance) {
  const double scaled = std::sqrt(3.0) * distance;
  return (1 + scaled) * std::exp(-scaled);
}

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// The spread of each scale around its default, a factor of two or so, until measurements say
/// otherwise.
constexpr double kScaleSpread = 0.7;
constexpr double kFactors[] = {0.35, 0.7, 1.4, 2.8};
/// Sweeps over the scales, and how often the factors become finer. Scales of predictions that say
/// nothing are thirty times the usual ones: coarse sweeps go on as long as they help.
constexpr int kSweeps = 6;
constexpr int kFiner = 2;
constexpr double ResidualScales::*kScales[] = {&ResidualScales::plan,      &ResidualScales::shared,
                                               &ResidualScales::own_group, &ResidualScales::length,
                                               &ResidualScales::bias,      &ResidualScales::network,
                                               &ResidualScales::slope};
/// The least gain in fit after which the next sweep of the scales is as coarse.
constexpr double kHelps = 1;
/// Fewer say nothing about how predictions err.
constexpr std::size_t kFewestToFit = 4;

}  // namespace

ResidualModel::ResidualModel(std::span<const PriorFigure> priors,
                             std::vector<PlanEstimate> measured)
    : priors_(priors), measured_(std::move(measured)), factor_(0) {
  for (const PlanEstimate& plan : measured_) {
    residuals_.push_back(plan.logarithm - priors_[plan.plan].logarithm);
  }
  if (measured_.size() >= kFewestToFit) fit_scales();
  factor_ = factor_with(scales_);
  weights_ = solve(factor_, residuals_);
}

double ResidualModel::covariance(std::size_t a, std::size_t b, const ResidualScales& scales) const {
  const PriorFigure& one = priors_[a];
  const PriorFigure& other = priors_[b];
  const double near = matern(distance(one.features, other.features) / scales.length);
  double sum = one.compute_share * other.compute_share *
               (squared(scales.bias) + squared(scales.shared) * near);
  if (one.group == other.group) {
    sum +=
        (1 - one.compute_share) * (1 - other.compute_share) * squared(scales.network) +
        squared(scales.own_group) * near +
        squared(scales.slope) * (one.logarithm - one.typical) * (other.logarithm - other.typical);
  }
  if (a == b) sum += squared(scales.plan) + squared(one.deviation);
  return sum;
}

Matrix ResidualModel::factor_with(const ResidualScales& scales) const {
  Matrix matrix(measured_.size());
  for (std::size_t i = 0; i < measured_.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      matrix(i, j) = covariance(measured_[i].plan, measured_[j].plan, scales);
    }
    matrix(i, i) += measured_[i].variance;
  }
  factorize(matrix);
  return matrix;
}

double ResidualModel::misfit(const ResidualScales& scales) const {
  const Matrix factor = factor_with(scales);
  const std::vector<double> whitened = solve_lower(factor, residuals_);
  double sum = dot(whitened, whitened) + log_determinant(factor);
  const ResidualScales usual;
  for (const auto scale : kScales) {
    sum += squared(std::log(scales.*scale / (usual.*scale)) / kScaleSpread);
  }
  return sum;
}

void ResidualModel::fit_scales() {
  double best = misfit(scales_);
  int finer = 0;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const double before = best;
    for (const auto scale : kScales) {
      const double centre = scales_.*scale;
      for (const double factor : kFactors) {
        ResidualScales tried = scales_;
        tried.*scale = centre * std::pow(factor, 1.0 / (1 << finer));
        const double result = misfit(tried);
        if (result < best) {
          best = result;
          scales_ = tried;
        }
      }
    }
    if (before - best > kHelps) continue;
    if (++finer > kFiner) return;
  }
}

std::vector<double> ResidualModel::with_measured(std::size_t plan) const {
  std::vector<double> covariances;
  covariances.reserve(measured_.size());
  for (const PlanEstimate& other : measured_) {
    covariances.push_back(covariance(plan, other.plan, scales_));
  }
  return covariances;
}

ResidualModel::Figure ResidualModel::figure(std::size_t plan) const {
  const std::vector<double> with = with_measured(plan);
  const std::vector<double> known = solve_lower(factor_, with);
  const double left = covariance(plan, plan, scales_) - dot(known, known);
  return {priors_[plan].logarithm + dot(with, weights_), std::sqrt(std::max(left, 0.0))};
}

JointFigures ResidualModel::joint(std::span<const std::size_t> plans) const {
  JointFigures result{{}, Matrix(plans.size())};
  std::vector<std::vector<double>> known;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const std::vector<double> with = with_measured(plans[i]);
    result.means.push_back(priors_[plans[i]].logarithm + dot(with, weights_));
    known.push_back(solve_lower(factor_, with));
    for (std::size_t j = 0; j <= i; ++j) {
      const double left = covariance(plans[i], plans[j], scales_) - dot(known[i], known[j]);
      result.covariance(i, j) = left;
      result.covariance(j, i) = left;
    }
  }
  return result;
}

}  // namespace pareto::statistics
