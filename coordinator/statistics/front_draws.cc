#include "coordinator/statistics/front_draws.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "coordinator/statistics/front_of.h"
#include "coordinator/statistics/statistics.h"

namespace pareto::statistics {
namespace {

constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();
/// The width or height of the area that only the ends of a front dominate.
constexpr double kEdge = 0.1;
constexpr int kDrawDegrees = 6;

/// Draws of both figures of some plans together.
class Draws {
 public:
  Draws(JointFigures latency, JointFigures throughput)
      : latency_(std::move(latency)), throughput_(std::move(throughput)) {
    factorize(latency_.covariance);
    factorize(throughput_.covariance);
  }

  struct Drawn {
    std::vector<double> latency;
    std::vector<double> throughput;
  };
  Drawn next(Random& random) const {
    double squares = 0;
    for (int i = 0; i < kDrawDegrees; ++i) squares += std::pow(random.normal(), 2);
    const double scale = std::sqrt(kDrawDegrees / std::max(squares, 1e-3));
    std::vector<double> slow(latency_.means.size());
    std::vector<double> unproductive(slow.size());
    for (std::size_t i = 0; i < slow.size(); ++i) {
      slow[i] = scale * random.normal();
      unproductive[i] =
          -kFiguresCorrelation * slow[i] +
          std::sqrt(1 - kFiguresCorrelation * kFiguresCorrelation) * scale * random.normal();
    }
    return {moved(latency_, slow), moved(throughput_, unproductive)};
  }

 private:
  static std::vector<double> moved(const JointFigures& figures, std::span<const double> by) {
    std::vector<double> result = figures.means;
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto row = figures.covariance.row(i).first(i + 1);
      result[i] += std::inner_product(row.begin(), row.end(), by.begin(), 0.0);
    }
    return result;
  }

  JointFigures latency_;
  JointFigures throughput_;
};

/// Returns for each plan one that beats it, or kNobody.
std::vector<std::size_t> beaters(const std::vector<double>& latency,
                                 const std::vector<double>& throughput) {
  static const double kTolerance = std::log1p(results::kFrontTolerance);
  std::vector<std::size_t> order(latency.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return latency[i]; });
  const auto better = [&](std::size_t best, std::size_t i) {
    return best == kNobody || throughput[i] > throughput[best] ? i : best;
  };
  std::vector<std::size_t> result(latency.size(), kNobody);
  std::size_t faster = 0;  // of the order, those that are faster by more than the tolerance …
  std::size_t best_faster = kNobody;
  std::size_t best = kNobody;  // … and those that are no slower
  for (const std::size_t i : order) {
    while (latency[order[faster]] + kTolerance < latency[i]) {
      best_faster = better(best_faster, order[faster++]);
    }
    if (best_faster != kNobody && throughput[best_faster] >= throughput[i]) {
      result[i] = best_faster;
    } else if (best != kNobody && throughput[best] > throughput[i] + kTolerance) {
      result[i] = best;
    }
    best = better(best, i);
  }
  return result;
}

/// Adds to each plan what the front would lose without it: the area, of logarithms, that it alone
/// dominates.
void add_areas(const Draws::Drawn& drawn, std::vector<DrawnPlan>& plans) {
  std::vector<std::size_t> order(plans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return drawn.latency[i]; });
  const std::vector<std::size_t> front =
      front_of(order, [&](std::size_t i) { return drawn.throughput[i]; });
  for (std::size_t i = 0; i < front.size(); ++i) {
    const double width =
        i + 1 < front.size() ? drawn.latency[front[i + 1]] - drawn.latency[front[i]] : kEdge;
    const double height =
        i > 0 ? drawn.throughput[front[i]] - drawn.throughput[front[i - 1]] : kEdge;
    plans[front[i]].area += width * height;
  }
}

}  // namespace

std::vector<DrawnPlan> draw_fronts(JointFigures latency, JointFigures throughput, int draws,
                                   std::uint64_t seed) {
  std::vector<DrawnPlan> plans(latency.means.size());
  const Draws figures(std::move(latency), std::move(throughput));
  Random random(seed);
  for (int draw = 0; draw < draws; ++draw) {
    const Draws::Drawn drawn = figures.next(random);
    add_areas(drawn, plans);
    const std::vector<std::size_t> by = beaters(drawn.latency, drawn.throughput);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (by[i] == kNobody) {
        ++plans[i].unbeaten;
      } else {
        ++plans[i].beaten_by[by[i]];
      }
    }
  }
  return plans;
}

}  // namespace pareto::statistics
