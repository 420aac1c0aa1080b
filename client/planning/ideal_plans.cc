#include "client/planning/ideal_plans.h"

#include <algorithm>
#include <utility>

#include "core/plan/shard.h"
#include "partitioner/graph/cuts.h"
#include "partitioner/search/ideal_costs.h"

namespace pareto::client {
namespace {

/// A set that is a prefix has the name of that position.
std::string name_of(const partitioner::Model& model, const OperatorRanges& before) {
  if (before.size() > 1 || before.front().begin > 0) return partitioner::cut_name(before);
  return model.split_points()[static_cast<std::size_t>(before.front().end - 1)].name;
}

/// The ideals that are prefixes of the model's order, by how many operators they hold.
std::map<std::int64_t, int> prefixes_among(const partitioner::GraphIdeals& ideals) {
  std::map<std::int64_t, int> prefixes;
  for (std::size_t i = 0; i < ideals.operators.size(); ++i) {
    const OperatorRanges& set = ideals.operators[i];
    if (set.empty() || (set.size() == 1 && set.front().begin == 0)) {
      prefixes.emplace(count_of(set), static_cast<int>(i));
    }
  }
  return prefixes;
}

}  // namespace

Expected<CutChoice> choose_cuts(const partitioner::Model& model, std::int64_t batch, Cuts cuts,
                                std::size_t most) {
  CutChoice choice;
  if (cuts == Cuts::kOrder) return choice;
  auto found = with_context(partitioner::find_graph_ideals(model.graph(), batch, most),
                            "cutting {} at every ideal", model.name());
  if (found) {
    choice.ideals = *std::move(found);
  } else if (cuts == Cuts::kAuto && found.error().code == ErrorCode::kExhausted) {
    choice.why_in_order = std::move(found).error().message;
  } else {
    return tl::unexpected(std::move(found).error());
  }
  return choice;
}

Expected<partitioner::CostInputs> make_ideal_cost_inputs(
    const partitioner::Model& model, const partitioner::GraphIdeals& ideals, std::int64_t batch,
    const std::vector<DeviceFacts>& devices, const std::vector<ProbedTransport>& transports,
    const ProbedCodecs& codecs) {
  // Limits of memory are those of the uncut model; what lies at positions is replaced.
  PARETO_ASSIGN(partitioner::CostInputs inputs,
                make_cost_inputs(model, SplitChoice{}, batch, devices, transports));
  inputs.boundary_bytes = ideals.ideals.boundary_bytes;
  inputs.legal.assign(ideals.operators.size(), true);
  inputs.ends = ideals.ideals.ends;
  std::vector<std::int64_t> positions;
  for (const OperatorRanges& set : ideals.operators) positions.push_back(count_of(set));
  inputs.links = link_costs(positions, inputs.boundary_bytes, devices.size(), transports, codecs);
  share_media(devices, inputs);
  std::vector<std::int64_t> weights = partitioner::ideal_weight_bytes(model.graph(), ideals);
  for (std::int64_t& bytes : weights) bytes *= kWeightCopies;
  const std::vector<partitioner::SharedWeight> shared =
      shared_weights_to_load(model, ideals.operators);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    partitioner::DeviceCosts& costs = inputs.devices[i];
    PARETO_ASSIGN(partitioner::DeviceCosts times,
                  with_context(partitioner::ideal_costs(devices[i].profile, ideals), "device {}",
                               costs.name));
    costs.busy = std::move(times.busy);
    static_cast<partitioner::StageCosts&>(costs) = std::move(times);
    costs.weight_bytes = weights;
    costs.shared_weights = shared;
    costs.crossing_bytes = crossing_bytes(inputs);
    PARETO_ASSIGN(costs.early,
                  early_values(model.graph(), devices[i].profile, ideals.operators, batch));
    costs.too_large.clear();  // by the positions of the uncut model
    rule_out(devices[i].profile.too_large, prefixes_among(ideals), costs);
  }
  PARETO_TRY(partitioner::check(inputs));
  return inputs;
}

void place_ideals(const partitioner::Model& model, const partitioner::GraphIdeals& ideals,
                  const std::vector<DeviceFacts>& devices, const partitioner::Placement& placement,
                  Plan& plan) {
  plan.splits.clear();
  plan.stages.clear();
  plan.replicated = placement.replicated;
  for (const partitioner::PlacedStage& placed : placement.stages) {
    ShardOperators operators = stage_operators(ideals, placed.begin, placed.end);
    StagePlan stage{devices[static_cast<std::size_t>(placed.device)].profile.device,
                    operators.begin(), operators.end()};
    if (!operators.before.empty()) plan.splits.push_back(name_of(model, operators.before));
    if (operators.own != OperatorRanges{{stage.begin, stage.end}}) {
      stage.operators = std::move(operators.own);
    }
    plan.stages.push_back(std::move(stage));
  }
}

Expected<partitioner::Placement> placement_among(const Plan& plan,
                                                 const partitioner::GraphIdeals& ideals,
                                                 const std::vector<DeviceFacts>& devices) {
  const auto position_of = [&](const OperatorRanges& set) -> Expected<int> {
    const auto found = std::ranges::find(ideals.operators, set);
    if (found != ideals.operators.end()) {
      return static_cast<int>(found - ideals.operators.begin());
    }
    return fail(ErrorCode::kNotFound, "operators {} are no ideal", to_string(set));
  };
  partitioner::Placement placement;
  placement.replicated = plan.replicated;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    const ShardOperators operators = plan.operators_of(i);
    PARETO_ASSIGN(const int device, place_of_device(plan.stages[i].device, devices));
    PARETO_ASSIGN(const int begin, position_of(operators.before));
    PARETO_ASSIGN(const int end, position_of(operators.with_own()));
    placement.stages.push_back({device, begin, end});
  }
  return placement;
}

}  // namespace pareto::client
