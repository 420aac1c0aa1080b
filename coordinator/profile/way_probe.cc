#include "coordinator/profile/way_probe.h"

#include <algorithm>

#include "coordinator/cluster/transport_choice.h"
#include "core/control/greeting.h"

namespace pareto::profile {
namespace {

constexpr std::chrono::milliseconds kConnectingWay{10'000};

}  // namespace

Expected<transport::ProbeResult> probe_from_here(const cluster::DaemonClient& device,
                                                 const std::string& transport,
                                                 const transport::ProbeOptions& options,
                                                 std::chrono::milliseconds limit) {
  PARETO_ASSIGN(const auto own, transport::make_transport(transport));
  PARETO_ASSIGN(const std::string address, cluster::data_address(device, transport));
  PARETO_ASSIGN(const auto link,
                control::connect_to_stage(*own, address, {0, 0, control::Role::kProbe},
                                          deadline_after(std::min(limit, kConnectingWay)),
                                          cluster::link_options_to(device)));
  auto result = transport::probe_link(*link, options, std::chrono::steady_clock::now() + limit);
  link->close();
  return result;
}

Expected<transport::ProbeResult> probe_between(cluster::DaemonClient& from,
                                               const cluster::DaemonClient& to,
                                               const std::string& transport,
                                               const transport::ProbeOptions& options,
                                               std::chrono::milliseconds limit) {
  PARETO_ASSIGN(const std::string address, cluster::data_address(to, transport));
  return from.probe_link(transport, address, options, limit);
}

}  // namespace pareto::profile
