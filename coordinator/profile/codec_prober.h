// Measures what codecs do to the values that cross the cuts of a model, and their time on each
// device.
//
//   the model, run here once, cut by cut ──▶ boundary values
//       ──▶ bytes, error, encode and decode time of each codec, on this machine
//   a tensor that is the same everywhere ──▶ how much faster or slower each device is at each codec
//
// What a codec saves depends on what crosses (after a ReLU half of it is zeros), not on the device;
// how long it takes on both.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/workload.h"
#include "core/base/error.h"
#include "partitioner/planning/inputs/probes.h"

namespace pareto::profile {

struct CodecOptions {
  std::vector<std::string> codecs;      ///< names, "none" among them or not
  double allowed_error = 0;             ///< limit of CodecError::mean, at every cut
  std::vector<std::int64_t> positions;  ///< cuts to look at, ascending, inside the model
  std::int64_t batch = 1;
  std::uint64_t seed = 1;  ///< seed of the example inputs
};

/// Measures codecs. Calls `progress` before each cut, with its number and the total; `stop` ends it
/// there. Codecs that lose more than is allowed anywhere are left out. If only "none" is named,
/// nothing is measured. Fails: kClosed (stopped), kInvalidArgument (every codec loses too much,
/// with the one that loses least), and as running the model, codecs and devices do.
Expected<planning::ProbedCodecs> probe_codecs(
    const cluster::Cluster& cluster, cluster::Workload& workload, const CodecOptions& options,
    const std::atomic<bool>& stop, const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace pareto::profile
