#include "partitioner/planning/inputs/ideal_plans.h"

#include <algorithm>
#include <utility>

#include "core/plan/shard.h"
#include "partitioner/model/graph/cuts.h"
#include "partitioner/planning/search/ideal_costs.h"

namespace pareto::planning {
namespace {

/// Returns the name of a set. One that is a prefix has the name of that position.
std::string name_of(const model::Model& model, const plan::OperatorRanges& before) {
  if (before.size() > 1 || before.front().begin > 0) return model::cut_name(before);
  return model.split_points()[static_cast<std::size_t>(before.front().end - 1)].name;
}

/// Returns the ideals that are prefixes of the model's order, by how many operators they hold.
std::map<std::int64_t, int> prefixes_among(const search::GraphIdeals& ideals) {
  std::map<std::int64_t, int> prefixes;
  for (std::size_t i = 0; i < ideals.operators.size(); ++i) {
    const plan::OperatorRanges& set = ideals.operators[i];
    if (set.empty() || (set.size() == 1 && set.front().begin == 0)) {
      prefixes.emplace(plan::count_of(set), static_cast<int>(i));
    }
  }
  return prefixes;
}

}  // namespace

Expected<CostInputs> make_ideal_cost_inputs(const model::Model& model,
                                            const search::GraphIdeals& ideals, std::int64_t batch,
                                            const std::vector<DeviceFacts>& devices,
                                            const std::vector<ProbedTransport>& transports,
                                            const ProbedCodecs& codecs) {
  // Limits of memory are those of the uncut model; what lies at positions is replaced.
  PARETO_ASSIGN(CostInputs inputs,
                make_cost_inputs(model, SplitChoice{}, batch, devices, transports));
  inputs.boundary_bytes = ideals.ideals.boundary_bytes;
  inputs.legal.assign(ideals.operators.size(), true);
  inputs.ends = ideals.ideals.ends;
  std::vector<std::int64_t> positions;
  for (const plan::OperatorRanges& set : ideals.operators) positions.push_back(plan::count_of(set));
  inputs.links = link_costs(positions, inputs.boundary_bytes, devices.size(), transports, codecs);
  share_media(devices, inputs);
  std::vector<std::int64_t> weights = search::ideal_weight_bytes(model.graph(), ideals);
  for (std::int64_t& bytes : weights) bytes *= plan::kWeightCopies;
  const std::vector<SharedWeight> shared = shared_weights_to_load(model, ideals.operators);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    DeviceCosts& costs = inputs.devices[i];
    PARETO_ASSIGN(DeviceCosts times, with_context(search::ideal_costs(devices[i].profile, ideals),
                                                  "device {}", costs.name));
    costs.busy = std::move(times.busy);
    static_cast<StageCosts&>(costs) = std::move(times);
    costs.weight_bytes = weights;
    costs.shared_weights = shared;
    costs.crossing_bytes = crossing_bytes(inputs);
    PARETO_ASSIGN(costs.early,
                  early_values(model.graph(), devices[i].profile, ideals.operators, batch));
    costs.too_large.clear();  // by the positions of the uncut model
    rule_out(devices[i].profile.too_large, prefixes_among(ideals), costs);
  }
  PARETO_TRY(check(inputs));
  return inputs;
}

void place_ideals(const model::Model& model, const search::GraphIdeals& ideals,
                  const std::vector<DeviceFacts>& devices, const Placement& placement,
                  plan::Plan& plan) {
  plan.splits.clear();
  plan.stages.clear();
  plan.replicated = placement.replicated;
  for (const PlacedStage& placed : placement.stages) {
    plan::ShardOperators operators = stage_operators(ideals, placed.begin, placed.end);
    plan::StagePlan stage{devices[static_cast<std::size_t>(placed.device)].profile.device,
                          operators.begin(), operators.end()};
    if (!operators.before.empty()) plan.splits.push_back(name_of(model, operators.before));
    if (operators.own != plan::OperatorRanges{{stage.begin, stage.end}}) {
      stage.operators = std::move(operators.own);
    }
    plan.stages.push_back(std::move(stage));
  }
}

Expected<Placement> placement_among(const plan::Plan& plan, const search::GraphIdeals& ideals,
                                    const std::vector<DeviceFacts>& devices) {
  const auto position_of = [&](const plan::OperatorRanges& set) -> Expected<int> {
    const auto found = std::ranges::find(ideals.operators, set);
    if (found != ideals.operators.end()) {
      return static_cast<int>(found - ideals.operators.begin());
    }
    return fail(ErrorCode::kNotFound, "operators {} are no ideal", to_string(set));
  };
  Placement placement;
  placement.replicated = plan.replicated;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const plan::ShardOperators operators = plan.operators_of(i);
    PARETO_ASSIGN(const int device, place_of_device(plan.stages[i].device, devices));
    PARETO_ASSIGN(const int begin, position_of(operators.before));
    PARETO_ASSIGN(const int end, position_of(operators.with_own()));
    placement.stages.push_back({device, begin, end});
  }
  return placement;
}

}  // namespace pareto::planning
