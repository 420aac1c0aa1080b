#include "partitioner/planning/search/ideal_costs.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "partitioner/planning/cost/device_costs.h"

namespace pareto::search {

namespace {

/// Costs by positions of the model's order as those by sets.
void take_sets(planning::StageCosts& costs, const GraphIdeals& ideals) {
  const std::vector<Nanoseconds> before = std::move(costs.compute);
  const std::vector<Nanoseconds> enter = std::move(costs.enter);
  costs.compute.clear();
  costs.enter.clear();
  for (const plan::OperatorRanges& set : ideals.operators) {
    Nanoseconds sum{};
    for (const plan::OperatorRange& range : set) {
      sum += before[static_cast<std::size_t>(range.end)] -
             before[static_cast<std::size_t>(range.begin)];
    }
    costs.compute.push_back(sum);
    const bool is_prefix = set.size() == 1 && set.front().begin == 0;
    const auto position =
        is_prefix ? set.front().end : std::ranges::upper_bound(before, sum) - before.begin() - 1;
    costs.enter.push_back(set.empty() ? Nanoseconds(0) : enter[static_cast<std::size_t>(position)]);
  }
}

}  // namespace

Expected<planning::DeviceCosts> ideal_costs(const plan::DeviceProfile& profile,
                                            const GraphIdeals& ideals) {
  const std::int64_t operators = plan::count_of(ideals.operators.back());
  if (profile.operators.size() != static_cast<std::size_t>(operators)) {
    return fail(ErrorCode::kInvalidArgument, "a profile of {} operators for a graph of {}",
                profile.operators.size(), operators);
  }
  std::vector<std::int64_t> positions(profile.operators.size() + 1);
  std::iota(positions.begin(), positions.end(), 0);
  PARETO_ASSIGN(planning::DeviceCosts costs, planning::device_costs(profile, positions));
  take_sets(costs, ideals);
  if (costs.busy) take_sets(*costs.busy, ideals);
  return costs;
}

std::vector<std::int64_t> ideal_weight_bytes(const model::Graph& graph, const GraphIdeals& ideals) {
  std::vector<std::int64_t> bytes;
  for (const plan::OperatorRanges& set : ideals.operators) {
    std::vector<bool> seen(graph.weights.size(), false);
    std::int64_t sum = 0;
    for (const std::int64_t op : operators_in(set)) {
      for (const std::int64_t weight : graph.operators[static_cast<std::size_t>(op)].weights) {
        const auto at = static_cast<std::size_t>(weight);
        if (!seen[at]) sum += static_cast<std::int64_t>(graph.weights[at].size_bytes);
        seen[at] = true;
      }
    }
    bytes.push_back(sum);
  }
  return bytes;
}

std::vector<planning::SharedWeight> shared_weights(
    const model::Graph& graph, const std::vector<plan::OperatorRanges>& before) {
  std::vector<std::vector<std::int64_t>> users(graph.weights.size());
  for (std::size_t op = 0; op < graph.operators.size(); ++op) {
    for (const std::int64_t weight : graph.operators[op].weights) {
      users[static_cast<std::size_t>(weight)].push_back(static_cast<std::int64_t>(op));
    }
  }
  std::map<std::vector<int>, std::int64_t> bytes;  // by uses
  for (std::size_t weight = 0; weight < users.size(); ++weight) {
    if (users[weight].size() < 2) continue;
    std::vector<int> uses;
    for (const plan::OperatorRanges& set : before) {
      const auto count = std::ranges::count_if(
          users[weight], [&](std::int64_t op) { return plan::holds(set, op); });
      uses.push_back(static_cast<int>(count));
    }
    const bool parted = std::ranges::any_of(
        uses, [all = uses.back()](int count) { return count > 0 && count < all; });
    if (!parted) continue;
    bytes[std::move(uses)] += static_cast<std::int64_t>(graph.weights[weight].size_bytes);
  }
  std::vector<planning::SharedWeight> shared;
  for (const auto& [uses, sum] : bytes) shared.push_back({sum, uses});
  return shared;
}

}  // namespace pareto::search
