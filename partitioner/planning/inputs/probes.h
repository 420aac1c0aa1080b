// Results of probes: how long messages take on every way, and what codecs do to the values at cuts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/transport/link_probe.h"
#include "core/wire/codec_cost.h"
#include "partitioner/planning/cost/cost_inputs.h"

namespace pareto::planning {

/// [from][to] by the cluster's order of devices, the coordinator last; what has no points is no
/// way. There is none from the coordinator to itself, nor from a device to itself.
using ProbedLinks = std::vector<std::vector<transport::ProbeResult>>;

/// The probed links of one transport; a link that cannot have it has no points.
struct ProbedTransport {
  std::string name;
  ProbedLinks links;
};

/// Unit of LinkCodec::loss in plans: parts per million of the largest magnitude of a tensor, in the
/// mean of its elements.
inline constexpr double kLossUnits = 1e6;

/// Rows of codecs are in one order, that of `codecs`.
struct ProbedCodecs {
  std::vector<std::string> codecs{"none"};
  std::vector<std::int64_t> positions;  ///< empty: nothing was measured, all are "none"
  /// Costs of what crosses, by position, on this machine.
  std::vector<std::vector<wire::CodecCost>> crossing;
  std::vector<std::uint64_t> plain_bytes;  ///< bytes of a frame without a codec, by position
  std::vector<wire::CodecCost> standard;   ///< costs for standard_activations(), on this machine
  std::vector<std::vector<wire::CodecCost>> on_devices;  ///< costs for the same, by device
};

/// Returns what one of its codecs takes for what crosses positions[place] on a device: as measured
/// here, in proportion to the device's speed.
wire::CodecCost codec_cost_on(const ProbedCodecs& probed, std::size_t codec, std::size_t device,
                              std::size_t place);

/// Returns the figures of one of its codecs on the way between two devices, at `position`. If it
/// was not measured there, they are those of the nearest position. `boundary_bytes` are those of
/// `position`.
CodecFigures figures_of(const ProbedCodecs& probed, std::size_t codec, std::size_t from,
                        std::size_t to, std::int64_t position, std::int64_t boundary_bytes);

}  // namespace pareto::planning
