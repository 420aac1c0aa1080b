#include "coordinator/profile/link_prober.h"

#include <algorithm>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/transport_choice.h"
#include "core/control/hello.h"

namespace pareto::profile {
namespace {

constexpr std::chrono::milliseconds kConnecting{10'000};
constexpr std::uint64_t kSmallestBytes = 1024;
constexpr std::uint64_t kFactor = 4;

bool may_have(const LinkTransports& transports, std::size_t from, std::size_t to,
              const std::string& transport) {
  return std::ranges::find(transports[from][to], transport) != transports[from][to].end();
}

/// Probes one way between the coordinator and a device. Each has a connection and time of its own:
/// a link whose time was up is closed.
Expected<transport::ProbeResult> probe_from_here(transport::Transport& transport,
                                                 const std::string& address,
                                                 transport::ProbeOptions options,
                                                 transport::PingWay way) {
  PARETO_ASSIGN(const auto link,
                control::connect_to_stage(transport, address, {0, 0, control::Role::kProbe},
                                          deadline_after(kConnecting)));
  options.way = way;
  auto result = transport::probe_link(*link, options,
                                      std::chrono::steady_clock::now() + transport::kLongestProbe);
  link->close();
  return result;
}

}  // namespace

Expected<planning::ProbedLinks> probe_links(
    const cluster::Cluster& cluster, const LinkTransports& transports, const std::string& transport,
    const std::vector<std::uint64_t>& sizes, const std::atomic<bool>& stop,
    const std::function<void(const std::string&)>& progress) {
  PARETO_ASSIGN(const auto own, transport::make_transport(transport));
  const std::size_t coordinator = cluster.size();
  const auto has = [&](std::size_t from, std::size_t to) {
    return may_have(transports, from, to, transport);
  };
  planning::ProbedLinks links(coordinator + 1,
                              std::vector<transport::ProbeResult>(coordinator + 1));
  transport::ProbeOptions options;
  options.sizes = sizes;
  const auto next = [&](const std::string& link) -> Expected<> {
    if (stop) return fail(ErrorCode::kClosed, "stopped before all links were probed");
    progress(link + ", " + transport);
    return {};
  };
  for (std::size_t to = 0; to < coordinator; ++to) {
    const cluster::DaemonClient& receiver = cluster.device(to);
    const std::string& name = receiver.config().name;
    if (has(coordinator, to) || has(to, coordinator)) {
      PARETO_ASSIGN(const std::string address, cluster::data_address(receiver, transport));
      PARETO_TRY(next("coordinator and " + name));
      const auto probe = [&](transport::PingWay way) {
        return with_context(probe_from_here(*own, address, options, way), "probing the link to {}",
                            name);
      };
      PARETO_ASSIGN(links[coordinator][to], probe(transport::PingWay::kThere));
      PARETO_ASSIGN(links[to][coordinator], probe(transport::PingWay::kBack));
    }
    for (std::size_t from = 0; from < coordinator; ++from) {
      if (!has(from, to)) continue;
      cluster::DaemonClient& sender = cluster.device(from);
      PARETO_ASSIGN(const std::string address, cluster::data_address(receiver, transport));
      PARETO_TRY(next(sender.config().name + " to " + name));
      PARETO_ASSIGN(links[from][to],
                    sender.probe_link(transport, address, options, transport::kLongestProbe));
    }
  }
  return links;
}

std::size_t probes_of(const LinkTransports& transports, const std::string& transport) {
  const std::size_t coordinator = transports.size() - 1;
  std::size_t probes = 0;
  for (std::size_t to = 0; to < coordinator; ++to) {
    // Both ways of a device's link to the coordinator are one probe.
    if (may_have(transports, coordinator, to, transport) ||
        may_have(transports, to, coordinator, transport)) {
      ++probes;
    }
    for (std::size_t from = 0; from < coordinator; ++from) {
      if (may_have(transports, from, to, transport)) ++probes;
    }
  }
  return probes;
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

}  // namespace pareto::profile
