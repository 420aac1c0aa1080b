// Model of where predictions are wrong, and how much. It turns predictions and a few measurements
// into the figures of every plan.
//
//   log(true / predicted) of a plan =
//         c (a bias of what devices take, that all plans share)
//       + c (what varies smoothly from plan to plan, the same under all conditions)
//       + (1 - c) (a bias of the network, that the plans of its group share)
//       + what varies smoothly from plan to plan within its group
//       + how far the plan is predicted from what is typical of its group, times an unknown factor
//       + what is the plan's own
//
// c is the share of the figure that is compute: over a slow network, the speed of devices matters
// little, and the other way round. All parts are Gaussian. This is Kriging, or Gaussian-process
// regression (Rasmussen and Williams 2006, chapter 2), of one figure, with a Matérn 3/2 kernel over
// the plans' features. The sizes of the parts are fitted to the measurements (their maximum a
// posteriori). So good predictions are believed, and others are not. Before anything is measured, a
// prediction counts as good to about 10 %.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "coordinator/statistics/cholesky.h"
#include "coordinator/statistics/pass_effects.h"

namespace pareto::statistics {

/// One figure (latency or throughput) of a plan, before it is measured.
struct PriorFigure {
  int group = 0;  ///< plans of one batch and condition
  /// Coordinates in which a distance of 1 is far; as many for all plans.
  std::vector<double> features;
  double logarithm = 0;  ///< natural, of what is predicted
  /// Standard deviation of the prediction beyond what the model learns: 1 or so without a
  /// prediction.
  double deviation = 0;
  double compute_share = 1;  ///< c, 0 to 1
  double typical = 0;        ///< what the group's plans typically take, as a natural logarithm
};

/// Standard deviations of logarithms.
struct ResidualScales {
  double bias = 0.1;
  double shared = 0.04;
  double network = 0.06;
  double own_group = 0.03;
  double plan = 0.02;
  /// An error that grows with the distance of a prediction from the typical one.
  double slope = 0.05;
  double length = 0.5;  ///< length scale of the features
};

struct JointFigures {
  std::vector<double> means;  ///< logarithms
  Matrix covariance;
};

/// The joint distribution of all plans' errors, given those that were measured.
///
/// Threads: one owner. `priors` outlive it.
class ResidualModel {
 public:
  /// `measured`: of some of the plans, counted as priors are.
  ResidualModel(std::span<const PriorFigure> priors, std::vector<PlanEstimate> measured);

  const ResidualScales& scales() const { return scales_; }
  struct Figure {
    double logarithm = 0;
    double deviation = 0;  ///< standard deviation of the logarithm
  };
  Figure figure(std::size_t plan) const;
  /// Returns the figures of several plans together: errors that they share count once.
  JointFigures joint(std::span<const std::size_t> plans) const;

 private:
  double covariance(std::size_t a, std::size_t b, const ResidualScales& scales) const;
  Matrix factor_with(const ResidualScales& scales) const;
  double misfit(const ResidualScales& scales) const;
  void fit_scales();
  /// Returns the covariances of a plan with the measured ones.
  std::vector<double> with_measured(std::size_t plan) const;

  const std::span<const PriorFigure> priors_;
  const std::vector<PlanEstimate> measured_;
  std::vector<double> residuals_;
  ResidualScales scales_;
  Matrix factor_;
  std::vector<double> weights_;
};

}  // namespace pareto::statistics
