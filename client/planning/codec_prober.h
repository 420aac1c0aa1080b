// What codecs make of what crosses the cuts of a model, and what they take on each device.
//
//   the model, run here once, cut by cut ──▶ boundary values ──▶ bytes, error, encode and decode time of each codec, on this machine
//   a tensor that is the same everywhere ──▶ how much faster or slower each device is at each codec
//
// What a codec saves depends on what crosses (after a ReLU half of it is zeros), not on the device; how long it takes on both.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "client/cluster/cluster.h"
#include "client/cluster/workload.h"
#include "core/base/error.h"
#include "core/wire/codec_cost.h"
#include "partitioner/cost/cost_inputs.h"

namespace pareto::client {

/// Unit of LinkCodec::loss in plans: parts per million of the largest magnitude of a tensor, in the mean of its elements.
inline constexpr double kLossUnits = 1e6;

struct CodecWish {
  std::vector<std::string> codecs;      ///< names, "none" among them or not
  double allowed_error = 0;             ///< of CodecError::mean, at every cut
  std::vector<std::int64_t> positions;  ///< cuts to look at, ascending, inside the model
  std::int64_t batch = 1;
  std::uint64_t seed = 1;  ///< of the example inputs
};

/// Rows of codecs are in one order, that of `codecs`.
struct ProbedCodecs {
  std::vector<std::string> codecs{"none"};
  std::vector<std::int64_t> positions;  ///< empty: nothing was measured, all are "none"
  std::vector<std::vector<wire::CodecCost>> crossing;  ///< by position, on this machine
  std::vector<std::uint64_t> plain_bytes;              ///< by position, of a frame without a codec
  std::vector<wire::CodecCost> standard;  ///< of standard_activations(), on this machine
  std::vector<std::vector<wire::CodecCost>> on_devices;  ///< of the same, by device
};

/// `progress`: before each cut, which one of how many; `stop` ends it there. What loses more than is allowed anywhere is left out. Where
/// nothing but "none" is wanted nothing is measured. Fails: kClosed (stopped), kInvalidArgument (every codec loses too much, with the one
/// that loses least), and as running the model, codecs and devices do.
Expected<ProbedCodecs> probe_codecs(const Cluster& cluster, Workload& workload,
                                    const CodecWish& wish, const std::atomic<bool>& stop,
                                    const std::function<void(std::size_t, std::size_t)>& progress);

/// What one of its codecs takes of what crosses positions[place] on a device: as measured here, in proportion to the device's speed.
wire::CodecCost codec_cost_on(const ProbedCodecs& probed, std::size_t codec, std::size_t device,
                              std::size_t place);

/// Of one of its codecs on the way from a device to another one: at `position`, or where it was not measured at the nearest that was.
/// boundary_bytes: of that position.
partitioner::CodecFigures figures_of(const ProbedCodecs& probed, std::size_t codec,
                                     std::size_t from, std::size_t to, std::int64_t position,
                                     std::int64_t boundary_bytes);

}  // namespace pareto::client
