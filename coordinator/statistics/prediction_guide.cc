#include "coordinator/statistics/prediction_guide.h"

#include <cmath>
#include <utility>

namespace pareto::statistics {
namespace {

void add_pairs(const results::KeptOrder& more, results::KeptOrder& order) {
  order.kept += more.kept;
  order.broken += more.broken;
}

}  // namespace

PredictionGuide::PredictionGuide(const std::map<int, std::vector<std::size_t>>& groups,
                                 std::span<const RacePlan> plans,
                                 const std::vector<PlanStanding>& standings) {
  for (const auto& [group, members] : groups) {
    std::vector<std::pair<double, double>> latency;
    std::vector<std::pair<double, double>> throughput;
    Orders& orders = orders_[group];
    for (const std::size_t i : members) {
      orders.doubted = orders.doubted || plans[i].doubted;
      if (!plans[i].predicted || plans[i].rounds.empty()) continue;
      const auto figures = [](double predicted, double believed) {
        return std::pair(std::exp(predicted), std::exp(believed));
      };
      latency.push_back(figures(plans[i].predicted->latency, standings[i].latency.logarithm));
      throughput.push_back(
          figures(plans[i].predicted->throughput, standings[i].throughput.logarithm));
    }
    orders.latency = results::kept_order(latency);
    orders.throughput = results::kept_order(throughput);
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
