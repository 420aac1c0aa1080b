// From what was measured of a device to what any stage takes on it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/plan/device_profile.h"
#include "partitioner/cost/cost_inputs.h"

namespace pareto::partitioner {

/// Times at `positions` (of operators; ascending from 0 to all operators), of lone requests, the profile's overhead included, and of busy
/// devices; memory is left open.
///
/// A position c is known where both shards that a cut there makes were measured: T(0,c) and T(c,N). Then
///
///   compute[c] = T(0,c)      enter[c] = T(0,c) + T(c,N) - T'     whole = T(0,N)
///   compute[N] = T' = T(0,N), or where that is less the lower quartile of all T(0,c) + T(c,N)
///
/// so that those two stages are predicted as they were measured, and what lies between two cuts as T(0,b) + T(a,N) - T'. Where noise would
/// have a longer prefix take less, neighbours share their mean. Positions that are not known lie between those that are as their operators'
/// times in the plain engine say.
///
/// Fails: kInvalidArgument (positions that do not ascend or end elsewhere).
Expected<DeviceCosts> device_costs(const DeviceProfile& profile,
                                   const std::vector<std::int64_t>& positions);

}  // namespace pareto::partitioner
