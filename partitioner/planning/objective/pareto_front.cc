#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "partitioner/planning/objective/objective.h"

namespace pareto::planning {
namespace {

/// A point's objectives, all turned so that smaller is better.
using Costs = std::vector<double>;

/// Returns the costs of a point.
Costs costs_of(const Measurement& point, const std::vector<const Objective*>& objectives) {
  Costs costs;
  costs.reserve(objectives.size());
  for (const Objective* objective : objectives) {
    const double value = objective->read(point);
    costs.push_back(objective->direction == Direction::kSmallerIsBetter ? value : -value);
  }
  return costs;
}

bool is_comparable(const Costs& costs) {
  return std::ranges::none_of(costs, [](double cost) { return std::isnan(cost); });
}

bool beats(const Costs& a, const Costs& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(a[i] <= b[i])) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

/// Returns the front of two objectives. `order` is sorted by costs. A point that beats another
/// stands before it, so one pass with the best second cost so far suffices.
std::vector<std::size_t> front_of_two(const std::vector<Costs>& costs,
                                      const std::vector<std::size_t>& order) {
  std::vector<std::size_t> front;
  double best = std::numeric_limits<double>::infinity();
  for (const std::size_t i : order) {
    const bool equals_last = !front.empty() && costs[front.back()] == costs[i];
    if (costs[i][1] < best || front.empty() || equals_last) {
      front.push_back(i);
      best = costs[i][1];
    }
  }
  return front;
}

/// Returns the front of any number of objectives. `order` is sorted by costs, so no later point can
/// beat an earlier one. Each point is compared with the front so far, in place of its best second
/// cost.
std::vector<std::size_t> front_of_many(const std::vector<Costs>& costs,
                                       const std::vector<std::size_t>& order) {
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {
    if (std::ranges::none_of(front, [&](std::size_t j) { return beats(costs[j], costs[i]); })) {
      front.push_back(i);
    }
  }
  return front;
}

}  // namespace

std::vector<std::size_t> pareto_front(const std::vector<Measurement>& points,
                                      const std::vector<const Objective*>& objectives) {
  std::vector<Costs> costs;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points.size(); ++i) {
    costs.push_back(costs_of(points[i], objectives));
    if (is_comparable(costs.back())) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) -> const Costs& { return costs[i]; });
  auto front = objectives.size() == 2 ? front_of_two(costs, order) : front_of_many(costs, order);
  std::ranges::sort(front);
  return front;
}

bool dominates(const Measurement& a, const Measurement& b,
               const std::vector<const Objective*>& objectives) {
  return beats(costs_of(a, objectives), costs_of(b, objectives));
}

}  // namespace pareto::planning
