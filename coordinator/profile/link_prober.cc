#include "coordinator/profile/link_prober.h"

#include <fmt/format.h>

#include <algorithm>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/profile/way_probe.h"
#include "partitioner/model/graph/cuts.h"

namespace pareto::profile {
namespace {

constexpr std::uint64_t kSmallestBytes = 1024;
constexpr std::uint64_t kFactor = 4;

/// A probe of the link from one device to another, or of both ways between coordinator and device.
struct Probe {
  std::size_t from = 0;
  std::size_t to = 0;
};

/// Returns the probes of a transport, in the order in which they are made. Places are those of
/// LinkTransports: the coordinator is the last.
std::vector<Probe> probes_over(const std::string& transport, const LinkTransports& transports) {
  const auto may_have = [&](std::size_t from, std::size_t to) {
    return std::ranges::count(transports[from][to], transport) > 0;
  };
  const std::size_t coordinator = transports.size() - 1;
  std::vector<Probe> probes;
  for (std::size_t to = 0; to < coordinator; ++to) {
    if (may_have(coordinator, to) || may_have(to, coordinator)) probes.push_back({coordinator, to});
    for (std::size_t from = 0; from < coordinator; ++from) {
      if (may_have(from, to)) probes.push_back({from, to});
    }
  }
  return probes;
}

}  // namespace

Expected<planning::ProbedLinks> probe_links(
    const cluster::Cluster& cluster, const LinkTransports& transports, const std::string& transport,
    const std::vector<std::uint64_t>& sizes, const std::atomic<bool>& stop,
    const std::function<void(const std::string&)>& progress) {
  const std::size_t coordinator = cluster.size();
  planning::ProbedLinks links(coordinator + 1,
                              std::vector<transport::ProbeResult>(coordinator + 1));
  transport::ProbeOptions options;
  options.sizes = sizes;
  for (const auto& [from, to] : probes_over(transport, transports)) {
    const cluster::DaemonClient& receiver = cluster.device(to);
    const std::string& name = receiver.config().name;
    PARETO_TRY(cluster::data_address(receiver, transport));
    if (stop) return fail(ErrorCode::kClosed, "stopped before all links were probed");
    const bool from_here = from == coordinator;
    progress(fmt::format(
        "{}{}, {}", from_here ? "coordinator and " : cluster.device(from).config().name + " to ",
        name, transport));
    if (!from_here) {
      PARETO_ASSIGN(links[from][to], probe_between(cluster.device(from), receiver, transport,
                                                   options, transport::kLongestProbe));
      continue;
    }
    // Each way has a connection and time of its own: a link whose time was up is closed.
    const auto probe = [&](transport::PingWay way) {
      options.way = way;
      return with_context(probe_from_here(receiver, transport, options, transport::kLongestProbe),
                          "probing the link to {}", name);
    };
    PARETO_ASSIGN(links[coordinator][to], probe(transport::PingWay::kThere));
    PARETO_ASSIGN(links[to][coordinator], probe(transport::PingWay::kBack));
  }
  return links;
}

std::size_t probes_of(const LinkTransports& transports, const std::string& transport) {
  return probes_over(transport, transports).size();
}

std::vector<std::uint64_t> probe_sizes(std::uint64_t smallest, std::uint64_t largest) {
  largest = std::clamp(largest, kSmallestBytes, transport::kLargestPingBytes);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = std::clamp(smallest, kSmallestBytes, largest); size < largest;
       size *= kFactor) {
    sizes.push_back(size);
  }
  sizes.push_back(largest);
  return sizes;
}

Expected<std::vector<std::uint64_t>> sizes_to_probe(const model::Model& model,
                                                    const planning::SplitChoice& cuts,
                                                    const std::vector<std::int64_t>& batches) {
  std::vector<std::int64_t> positions{0, std::ssize(model.graph().operators)};
  for (const std::size_t index : cuts) positions.push_back(model.split_points()[index].position);
  std::uint64_t smallest = ~std::uint64_t{0};
  std::uint64_t largest = 0;
  for (const std::int64_t position : positions) {
    for (const std::int64_t batch : batches) {
      PARETO_ASSIGN(const std::uint64_t bytes,
                    model::boundary_bytes(model.graph(), {{0, position}}, batch));
      smallest = std::min(smallest, bytes);
      largest = std::max(largest, bytes);
    }
  }
  return probe_sizes(smallest, largest);
}

}  // namespace pareto::profile
