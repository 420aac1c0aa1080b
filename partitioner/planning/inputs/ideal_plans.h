// Plans whose cuts take any set of operators that has all its inputs. Branches may then run on
// different devices, in whatever order the model lists them. This predicts such plans and writes
// them.
//
//   Model + GraphIdeals + DeviceProfiles + ProbedTransports ──▶ CostInputs
//       ──partitioner/planning/search──▶ Placement ──▶ Plan with Stage::operators
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/cost/evaluate.h"
#include "partitioner/planning/inputs/cost_model.h"
#include "partitioner/planning/search/graph_ideals.h"

namespace pareto::planning {

/// Makes cost inputs as make_cost_inputs() does for split points; positions are the ideals. Codecs
/// are measured at cuts of the model's order: the cut behind as many operators counts. Fails: as
/// ideal_costs() does; kInvalidArgument (no such links).
Expected<CostInputs> make_ideal_cost_inputs(const model::Model& model,
                                            const search::GraphIdeals& ideals, std::int64_t batch,
                                            const std::vector<DeviceFacts>& devices,
                                            const std::vector<ProbedTransport>& transports,
                                            const ProbedCodecs& codecs = {});

/// Sets the stages of a plan to those of a placement among the ideals; all else of the plan is the
/// caller's.
void place_ideals(const model::Model& model, const search::GraphIdeals& ideals,
                  const std::vector<DeviceFacts>& devices, const Placement& placement,
                  plan::Plan& plan);
/// Returns the plan's placement among the ideals. Fails: kNotFound (a device that is not among
/// them, or a cut that is none).
Expected<Placement> placement_among(const plan::Plan& plan, const search::GraphIdeals& ideals,
                                    const std::vector<DeviceFacts>& devices);

}  // namespace pareto::planning
