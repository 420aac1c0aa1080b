#include "client/planning/link_prober.h"

#include <algorithm>

#include "client/cluster/daemon_client.h"
#include "client/cluster/link_setup.h"

namespace pareto::client {
namespace {

constexpr std::chrono::milliseconds kConnecting{10'000};
constexpr std::chrono::seconds kProbing{60};
constexpr std::uint64_t kSmallestBytes = 1024;
constexpr std::uint64_t kFactor = 4;

Expected<std::string> data_address(const DaemonClient& device, const std::string& transport) {
  const auto& data = device.info().data;
  const auto found = data.find(transport);
  if (found != data.end()) return found->second;
  return fail(ErrorCode::kNotFound, "{} has no data address for transport \"{}\"",
              device.config().name, transport);
}

/// Both ways between the coordinator and a device, over one connection.
Expected<> probe_from_here(transport::Transport& transport, const std::string& address,
                           const std::vector<std::uint64_t>& sizes, transport::ProbeResult& there,
                           transport::ProbeResult& back) {
  PARETO_ASSIGN(const auto link,
                connect_to_stage(transport, address, {0, 0, "probe"}, kConnecting));
  transport::ProbeOptions options;
  options.sizes = sizes;
  const TimePoint deadline = std::chrono::steady_clock::now() + kProbing;
  PARETO_ASSIGN(there, transport::probe_link(*link, options, deadline));
  options.way = transport::PingWay::kBack;
  PARETO_ASSIGN(back, transport::probe_link(*link, options, deadline));
  link->close();
  return {};
}

}  // namespace

Expected<ProbedLinks> probe_links(const Cluster& cluster, const LinkTransports& transports,
                                  const std::string& transport,
                                  const std::vector<std::uint64_t>& sizes,
                                  const std::atomic<bool>& stop,
                                  const std::function<void(const std::string&)>& progress) {
  PARETO_ASSIGN(const auto own, transport::make_transport(transport));
  const std::size_t coordinator = cluster.size();
  const auto has = [&](std::size_t from, std::size_t to) {
    return std::ranges::find(transports[from][to], transport) != transports[from][to].end();
  };
  ProbedLinks links(coordinator + 1, std::vector<transport::ProbeResult>(coordinator + 1));
  transport::ProbeOptions options;
  options.sizes = sizes;
  const auto next = [&](const std::string& link) -> Expected<> {
    if (stop) return fail(ErrorCode::kClosed, "stopped before all links were probed");
    progress(link + ", " + transport);
    return {};
  };
  for (std::size_t to = 0; to < coordinator; ++to) {
    const DaemonClient& receiver = cluster.device(to);
    const std::string& name = receiver.config().name;
    if (has(coordinator, to) || has(to, coordinator)) {
      PARETO_ASSIGN(const std::string address, data_address(receiver, transport));
      PARETO_TRY(next("coordinator and " + name));
      PARETO_TRY(with_context(
          probe_from_here(*own, address, sizes, links[coordinator][to], links[to][coordinator]),
          "probing the link to {}", name));
    }
    for (std::size_t from = 0; from < coordinator; ++from) {
      if (!has(from, to)) continue;
      DaemonClient& sender = cluster.device(from);
      PARETO_ASSIGN(const std::string address, data_address(receiver, transport));
      PARETO_TRY(next(sender.config().name + " to " + name));
      PARETO_ASSIGN(links[from][to], sender.probe_link(transport, address, options, kProbing));
    }
  }
  return links;
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

}  // namespace pareto::client
