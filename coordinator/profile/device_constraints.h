// Puts constraints on single devices into the inputs of a search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"
#include "partitioner/planning/cost/cost_inputs.h"
#include "partitioner/planning/inputs/cost_model.h"

namespace pareto::profile {

/// Devices by their places in the cluster.
struct DeviceConstraints {
  std::map<std::size_t, std::int64_t> memory;  ///< bytes that stages may take
  /// Cores' time that a device gives in a second, in seconds; of those whose owner limits it.
  std::map<std::size_t, double> core_time;
  std::optional<std::size_t> first;
  std::optional<std::size_t> last;
};

/// Returns what the owners of the devices allow.
DeviceConstraints owners_limits(const cluster::Cluster& cluster);
/// Reads constraints. `memory` is like "pi-1=256MiB,pi-2=1GiB"; `first` and `last` are names of
/// devices. Empty means no constraint. Fails: kNotFound (no such device, with the nearest),
/// kInvalidArgument, each naming its flag (--max-memory, --first, --last).
Expected<DeviceConstraints> read_constraints(const cluster::Cluster& cluster,
                                             const std::string& memory, const std::string& first,
                                             const std::string& last);

/// Puts the constraints into `inputs` of the same cluster. A device's own memory limit holds as
/// well. Where its owner limits the time for which it computes, everything takes the longer the
/// more of its cores work at once. `devices` were profiled, in the order of the inputs.
void constrain(const DeviceConstraints& constraints,
               const std::vector<planning::DeviceFacts>& devices, planning::CostInputs& inputs);

}  // namespace pareto::profile
