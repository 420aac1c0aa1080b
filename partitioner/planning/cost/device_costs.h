// From what was measured of a device to what any stage takes on it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/plan/device_profile.h"
#include "partitioner/planning/cost/cost_inputs.h"

namespace pareto::planning {

/// Times at `positions` (of operators; ascending from 0 to all operators), of lone requests, the profile's overhead included, and of busy
/// devices, and jitter; memory is left open.
///
/// A position c is known where one of the shards that a cut there makes was measured: T(0,c), T(c,N) or both. Then
///
///   compute[c] = T(0,c)      enter[c] = T(0,c) + T(c,N) - T'     whole = T(0,N)
///   compute[N] = T' = T(0,N), or where that is less the lower quartile of all T(0,c) + T(c,N)
///
/// (of busy times always that quartile: the whole model is measured while the other devices rest, its parts while all are at work)
///
/// so that those stages are predicted as they were measured, and what lies between two cuts as T(0,b) + T(a,N) - T'. Where noise would
/// have a longer prefix or end take less, neighbours share their median. Positions that are not known lie between those that are as their operators'
/// times in the plain engine say.
///
/// A device that has no room for everything lacks some. Without T(0,N) there is no `whole`, and T' is that quartile; without a cut of which
/// both sides were measured it is in proportion to the plain engine's time of all operators as those sides are, all together, to that of
/// theirs. Of a cut of which one side was measured, the other takes what is left of T' and of entering as at the nearest cut of which both
/// were; entering takes nothing where there is none.
///
/// Fails: kInvalidArgument (positions that do not ascend or end elsewhere; a profile without any shard that begins or ends the model).
Expected<DeviceCosts> device_costs(const plan::DeviceProfile& profile,
                                   const std::vector<std::int64_t>& positions);

}  // namespace pareto::planning
