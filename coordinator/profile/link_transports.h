// Transports that each possible link of a plan may use. A search chooses among them.
#pragma once

#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"
#include "core/transport/place.h"

namespace pareto::profile {

/// [from][to] by the cluster's order of devices, the coordinator last: names of transports in the
/// order in which they were asked for. None from the coordinator to itself, nor from a device to
/// itself.
using LinkTransports = std::vector<std::vector<std::vector<std::string>>>;

/// Returns, for every link, the transports of `asked` that it can have. One that stays within a
/// machine (shm) needs both ends on one machine. "auto" is the nearest.
/// Fails: kNotFound (a device that does not serve one of them), kInvalidArgument (a link that can
/// have none of them, with its ends).
Expected<LinkTransports> link_transports(const std::vector<std::string>& asked,
                                         const cluster::Cluster& cluster,
                                         const transport::Place& here = transport::this_place());

void add_once(std::vector<std::string>& names, const std::string& name);
/// Returns the transports that some link can have, none twice.
std::vector<std::string> names_in(const LinkTransports& links);

}  // namespace pareto::profile
