// Measures messages on every way that a plan may use: between devices, from the coordinator and
// back to it. It uses the real transport.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/profile/link_transports.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/planning/inputs/cost_model.h"
#include "partitioner/planning/inputs/probes.h"

namespace pareto::profile {

/// Probes the links that can have that transport, one after the other, so that none disturbs
/// another. Between the coordinator and a device it probes both ways if one of them can have it.
/// Calls `progress` before each, with what is probed. `stop` ends it there.
/// Fails: kClosed (stopped), kNotFound (a device without that transport), and as links and devices
/// do.
Expected<planning::ProbedLinks> probe_links(
    const cluster::Cluster& cluster, const LinkTransports& transports, const std::string& transport,
    const std::vector<std::uint64_t>& sizes, const std::atomic<bool>& stop,
    const std::function<void(const std::string&)>& progress);

/// Returns how many probes probe_links makes: how often it calls `progress`.
std::size_t probes_of(const LinkTransports& transports, const std::string& transport);

/// Returns sizes from the smallest to the largest by factors of 4, and the largest: what lies
/// between is interpolated.
std::vector<std::uint64_t> probe_sizes(std::uint64_t smallest, std::uint64_t largest);
/// Returns the sizes to probe for what crosses the ends of a model and those of its cuts, at any of
/// the batches. Fails: as model::boundary_bytes().
Expected<std::vector<std::uint64_t>> sizes_to_probe(const model::Model& model,
                                                    const planning::SplitChoice& cuts,
                                                    const std::vector<std::int64_t>& batches);

}  // namespace pareto::profile
