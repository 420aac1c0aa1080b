// Computes what any stage takes on a device from what was measured of the device.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/plan/device_profile.h"
#include "partitioner/planning/cost/cost_inputs.h"

namespace pareto::planning {

/// Returns times at `positions`, which count operators and ascend from 0 to all of them. The times
/// are those of lone requests, the profile's overhead included, and of busy devices. Jitter is
/// filled in too. Memory is left open.
///
/// A position c is known if one of the shards that a cut there makes was measured: T(0,c), T(c,N)
/// or both. Then
///
///   compute[c] = T(0,c)      enter[c] = T(0,c) + T(c,N) - T'     whole = T(0,N)
///   compute[N] = T' = min(T(0,N), Q)     Q: lower quartile of all T(0,c) + T(c,N)
///
/// Busy times have T' = Q even if T(0,N) is less: the whole model is measured while the other
/// devices rest, its parts while all are at work.
///
/// Those stages are predicted as they were measured. A stage between two cuts is predicted as
/// T(0,b) + T(a,N) - T'. If noise would have a longer prefix or end take less, neighbours share
/// their median. Positions that are not known are interpolated between known ones, in proportion to
/// their operators' times in the plain engine.
///
/// A device that has no room for everything lacks some of these times:
///
///   - Without T(0,N) there is no `whole`, and T' = Q.
///   - If there is no cut of which both sides were measured either, T' is proportional to the plain
///     engine's time of all operators. The ratio is that of all measured sides to their time in the
///     plain engine.
///   - If one side of a cut was measured, the other takes what is left of T' and of entering.
///     Entering is then as at the nearest cut of which both sides were measured. It takes nothing
///     if there is none.
///
/// Fails: kInvalidArgument (positions that do not ascend or end elsewhere; a profile without any
/// shard that begins or ends the model).
Expected<DeviceCosts> device_costs(const plan::DeviceProfile& profile,
                                   const std::vector<std::int64_t>& positions);

}  // namespace pareto::planning
