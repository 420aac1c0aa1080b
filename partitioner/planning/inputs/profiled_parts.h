// Parts of a profiled model: the segments between neighbouring cuts, and each operator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/device_profile.h"
#include "partitioner/model/graph/graph.h"
#include "partitioner/planning/cost/cost_inputs.h"

namespace pareto::planning {

/// The part between two neighbouring cuts, on one device.
struct ProfiledSegment {
  std::int64_t begin = 0;  ///< operators [begin, end)
  std::int64_t end = 0;
  /// Time as a stage of its own, in the engine that the device chose. It follows from the
  /// measurements of both sides of its cuts. No value means that there is no room for it.
  std::optional<Nanoseconds> alone;
  std::optional<Nanoseconds> busy;
  Nanoseconds plain{};            ///< its operators one by one, in the plain engine
  std::int64_t memory_bytes = 0;  ///< bytes that loading it takes, as computed
  std::int64_t output_bytes = 0;  ///< bytes of what crosses where it ends
};

/// Returns the segments from the first to the last. `positions`: the operators before each position
/// of `inputs`; `device`: of its devices, the one of the profile.
std::vector<ProfiledSegment> profiled_segments(const plan::DeviceProfile& profile,
                                               const std::vector<std::int64_t>& positions,
                                               const CostInputs& inputs, std::size_t device);

/// The facts about an operator that are the same on every device.
struct ProfiledOperator {
  std::string kind;   ///< "aten::conv2d"
  std::string scope;  ///< module path
  std::uint64_t weight_bytes = 0;
  std::uint64_t output_bytes = 0;  ///< tensors that it makes at the batch
};

/// Returns all operators, in order. Fails: as ValueSpec::size_bytes() does.
Expected<std::vector<ProfiledOperator>> profiled_operators(const model::Graph& graph,
                                                           std::int64_t batch);

}  // namespace pareto::planning
