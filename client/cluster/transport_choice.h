// Which transport `auto` stands for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/cluster/cluster.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/transport/place.h"

namespace pareto::client {

inline constexpr std::string_view kAutoTransport = "auto";

/// A plan has one transport for all its links, those from the source and to the sink included: the first of this build that stays within
/// a machine (shm) where the coordinator and every device of the plan share one and all devices offer it, else the first that crosses a
/// network (tcp). Fails: kNotFound (a device that the cluster has not).
Expected<std::string> nearest_transport(const std::vector<std::string>& devices,
                                        const Cluster& cluster,
                                        const transport::Place& here = transport::this_place());
/// The plan with its transport named where it says "auto". Fails: as above.
Expected<Plan> with_transport_named(Plan plan, const Cluster& cluster);

}  // namespace pareto::client
