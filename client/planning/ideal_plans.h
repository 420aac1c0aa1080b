// Plans whose cuts take any set of operators that has all it needs, so that branches may run on different devices whatever order the model
// lists them in: what they are predicted from, and how they are written.
//
//   Model + GraphIdeals + DeviceProfiles + ProbedTransports ──▶ CostInputs ──partitioner/search──▶ Placement ──▶ Plan with Stage::operators
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/planning/cost_model.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/cost/cost_inputs.h"
#include "partitioner/cost/evaluate.h"
#include "partitioner/graph/model.h"
#include "partitioner/search/graph_ideals.h"

namespace pareto::client {

/// Where plans may be cut.
enum class Cuts {
  kOrder,   ///< at chosen split points, in the model's order
  kIdeals,  ///< anywhere, branches in any order
  kAuto,  ///< the same where the graph has not too many ideals (partitioner/search/ideals.h), else in order
};
struct CutChoice {
  std::optional<partitioner::GraphIdeals> ideals;  ///< none: in order
  std::string why_in_order;  ///< where kAuto was asked for, and it is in order all the same
};
/// Fails: as partitioner::find_graph_ideals does, but with kAuto where there are too many.
Expected<CutChoice> choose_cuts(const partitioner::Model& model, std::int64_t batch, Cuts cuts,
                                std::size_t most = 100'000);

/// As make_cost_inputs of split points; positions are the ideals. Codecs are measured at cuts of the model's order: that behind as many
/// operators counts. Fails: as partitioner::ideal_costs does; kInvalidArgument (no such links).
Expected<partitioner::CostInputs> make_ideal_cost_inputs(
    const partitioner::Model& model, const partitioner::GraphIdeals& ideals, std::int64_t batch,
    const std::vector<DeviceFacts>& devices, const std::vector<ProbedTransport>& transports,
    const ProbedCodecs& codecs = {});

/// The stages of a placement among the ideals as those of a plan; all else of the plan is the caller's.
void place_ideals(const partitioner::Model& model, const partitioner::GraphIdeals& ideals,
                  const std::vector<DeviceFacts>& devices, const partitioner::Placement& placement,
                  Plan& plan);
/// Its placement among the ideals. Fails: kNotFound (a device that is not among them, or a cut that is none).
Expected<partitioner::Placement> placement_among(const Plan& plan,
                                                 const partitioner::GraphIdeals& ideals,
                                                 const std::vector<DeviceFacts>& devices);

}  // namespace pareto::client
