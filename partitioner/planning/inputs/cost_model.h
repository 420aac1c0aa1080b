// Profiles and probes as the numbers that predictions and searches are made from.
//
//   Model + positions + DeviceProfiles + ProbedTransports + ProbedCodecs ──▶ CostInputs
//       ──▶ partitioner/planning/cost, partitioner/planning/search
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/plan/device_profile.h"
#include "core/plan/operator_ranges.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/cost/evaluate.h"
#include "partitioner/planning/inputs/probes.h"

namespace pareto::planning {

/// A device as predictions see it.
struct DeviceFacts {
  plan::DeviceProfile profile;
  std::uint64_t memory_limit_bytes = 0;  ///< 0: none
  DeviceFigures figures{};               ///< figures that the inventory says of it
  std::string medium{};                  ///< name of its shared channel; see DeviceConfig
};

/// The split points where plans may be cut, by index of model.split_points(), ascending.
using SplitChoice = std::vector<std::size_t>;

/// Makes the inputs of the cost model. Positions of the result: 0, those of `splits`, and the end
/// of the model. `devices` and links in the cluster's order. Each link has, as its codecs, every
/// codec (of links between devices; "none" of those of the coordinator) by every transport it was
/// probed over. A device's memory limit is what it says, and below the computed need of any stage
/// that it was seen to have no room for. Fails: as device_costs() does; kInvalidArgument (no such
/// links).
Expected<CostInputs> make_cost_inputs(const model::Model& model, const SplitChoice& splits,
                                      std::int64_t batch, const std::vector<DeviceFacts>& devices,
                                      const std::vector<ProbedTransport>& transports,
                                      const ProbedCodecs& codecs = {});

/// Leaves no stage that holds one of `too_large`, nor, by the memory limit, any that needs as much.
/// `prefixes`: the positions of `costs` before which only the first operators of the model run,
/// with the number of those; 0 and all operators among them.
void rule_out(const std::vector<plan::OperatorRange>& too_large,
              const std::map<std::int64_t, int>& prefixes, DeviceCosts& costs);

/// Returns DeviceCosts::shared_weights, computed as a daemon does (kWeightCopies). `before`: by
/// position, the operators that run before it.
std::vector<SharedWeight> shared_weights_to_load(const model::Model& model,
                                                 const std::vector<plan::OperatorRanges>& before);

/// Returns DeviceCosts::crossing_bytes, computed as a daemon does (kBoundaryCopies).
std::vector<std::int64_t> crossing_bytes(const CostInputs& inputs);

/// Returns DeviceCosts::early by the device's profile. `before` has, for each position, the
/// operators that run before it. Fails: as device_costs and ValueSpec::size_bytes.
Expected<std::vector<std::vector<EarlyValue>>> early_values(
    const model::Graph& graph, const plan::DeviceProfile& profile,
    const std::vector<plan::OperatorRanges>& before, std::int64_t batch);

/// Returns CostInputs::links for the devices. `positions` of the model's operators: where codecs
/// were measured.
std::vector<std::vector<LinkCosts>> link_costs(const std::vector<std::int64_t>& positions,
                                               const std::vector<std::int64_t>& boundary_bytes,
                                               std::size_t devices,
                                               const std::vector<ProbedTransport>& transports,
                                               const ProbedCodecs& codecs);
/// Gives every link that crosses a network the media of the devices at its ends, which must have
/// none yet. Measured times of a link are times on its medium. Of two media it is that of the
/// slower device. The faster device's medium is passed in less, by the fastest of its links. If a
/// link may have a transport within a machine, its ends are on one machine, and it has no medium.
void share_media(const std::vector<DeviceFacts>& devices, CostInputs& inputs);
/// Returns the points by ascending bytes.
std::vector<LinkPoint> link_points(const transport::ProbeResult& probed);
/// Returns what a probed message takes: if it takes no more than processor time, none is left for
/// the link.
LinkPoint link_point(const transport::ProbePoint& probed);

/// Sets the stages of a plan to those of a placement; all else of the plan is the caller's.
void place(const model::Model& model, const SplitChoice& splits,
           const std::vector<DeviceFacts>& devices, const Placement& placement, plan::Plan& plan);
/// Returns the device that runs a stage of a placement, as cost inputs number them; no value means
/// the coordinator.
int device_at(std::optional<std::size_t> stage, const Placement& placement,
              const CostInputs& inputs);
/// Sets the transports and codecs of a plan to those of a placement's links; the plan has its
/// stages. `inputs` come from make_cost_inputs.
void choose_links(const CostInputs& inputs, const Placement& placement, plan::Plan& plan);
/// Returns where that device stands among them. Fails: kNotFound.
Expected<int> place_of_device(const std::string& name, const std::vector<DeviceFacts>& devices);
/// Returns the plan's placement among those positions. Fails: kNotFound (a device or a cut that is
/// not among them, or a plan with an order of its own).
Expected<Placement> placement_of(const plan::Plan& plan, const model::Model& model,
                                 const SplitChoice& splits,
                                 const std::vector<DeviceFacts>& devices);

}  // namespace pareto::planning
