#include "coordinator/statistics/prediction_guide.h"

#include <cmath>
#include <utility>

namespace pareto::statistics {
namespace {

void add_pairs(const results::KeptOrder& more, results::KeptOrder& order) {
  order.kept += more.kept;
  order.broken += more.broken;
}

std::map<std::size_t, double> logarithms_of(std::span<const PlanEstimate> estimates) {
  std::map<std::size_t, double> logarithms;
  for (const PlanEstimate& estimate : estimates) logarithms[estimate.plan] = estimate.logarithm;
  return logarithms;
}

/// Compares what is predicted of a group's plans with what was measured of them.
results::KeptOrder order_of(const std::vector<std::size_t>& members,
                            std::span<const RacePlan> plans, double LogFigures::*figure,
                            const std::map<std::size_t, double>& measured) {
  std::vector<std::pair<double, double>> figures;
  for (const std::size_t i : members) {
    const auto found = measured.find(i);
    if (!plans[i].predicted || found == measured.end()) continue;
    figures.emplace_back(std::exp((*plans[i].predicted).*figure), std::exp(found->second));
  }
  return results::kept_order(figures);
}

}  // namespace

PredictionGuide::PredictionGuide(const std::map<int, std::vector<std::size_t>>& groups,
                                 std::span<const RacePlan> plans,
                                 std::span<const PlanEstimate> latency,
                                 std::span<const PlanEstimate> throughput) {
  const std::map<std::size_t, double> latencies = logarithms_of(latency);
  const std::map<std::size_t, double> throughputs = logarithms_of(throughput);
  for (const auto& [group, members] : groups) {
    Orders& orders = orders_[group];
    for (const std::size_t i : members) orders.doubted = orders.doubted || plans[i].doubted;
    orders.latency = order_of(members, plans, &LogFigures::latency, latencies);
    orders.throughput = order_of(members, plans, &LogFigures::throughput, throughputs);
    add_pairs(orders.latency, all_.latency);
    add_pairs(orders.throughput, all_.throughput);
  }
}

bool PredictionGuide::Orders::are_kept() const {
  const bool is_proved = latency.is_known() && throughput.is_known();
  return !latency.is_broken() && !throughput.is_broken() && (is_proved || !doubted);
}

bool PredictionGuide::guides(int group) const {
  return orders_.at(group).are_kept() && all_.are_kept();
}

}  // namespace pareto::statistics
