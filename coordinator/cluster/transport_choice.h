// Chooses the transport of each link of a plan: mixes as people write them, and what `auto` stands
// for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/transport/place.h"

namespace pareto::cluster {

inline constexpr std::string_view kAutoTransport = "auto";

/// Parses a transport of all links ("tcp", "auto"), or a mix joined by '+'. "shm+tcp+grpc" is for
/// the source's link, for those between stages and for the sink's. Fails: kNotFound naming one that
/// links between processes cannot have, with those there are; kInvalidArgument (a link without).
Expected<std::vector<std::string>> parse_transport_mix(const std::string& text);

/// Returns one transport for each of `links` links (at least 2), or no value if that is ambiguous:
/// - A mix of that length stays as it is.
/// - One transport stands for all links.
/// - For two links, any mix gives the source's and the sink's.
/// - For more links, a mix of three repeats the one between the source's and the sink's.
std::optional<std::vector<std::string>> fit_transports(const std::vector<std::string>& mix,
                                                       std::size_t links);

/// Returns the transport of each link of a chain of devices. It is the first of this build that
/// stays within a machine (shm), if both ends share a machine and the connected one offers it. Else
/// it is the first that crosses a network (tcp). The source's link and the sink's have `here` as
/// their other end.
/// Fails: kNotFound (a device that is not in the cluster).
Expected<std::vector<std::string>> nearest_transports(
    const std::vector<std::string>& devices, const Cluster& cluster,
    const transport::Place& here = transport::this_place());

/// Returns the plan with the transport of each link named where it says "auto". Fails: as above.
Expected<plan::Plan> with_transports_named(plan::Plan plan, const Cluster& cluster);

/// Returns the address that a device listens on for a transport. Fails: kNotFound, with the remedy.
Expected<std::string> data_address(const DaemonClient& device, const std::string& transport);

/// Checks that each link of a plan with named transports ends at a device that listens for it.
/// Fails: as data_address(); kNotFound (a device that the cluster lacks).
Expected<> check_data_addresses(const plan::Plan& plan, const Cluster& cluster);

}  // namespace pareto::cluster
