#include <utility>

#include "coordinator/cluster/control_address.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/grpc_daemon_client.h"
#include "coordinator/discovery/service_lookup.h"
#include "core/transport/address.h"
#include "core/transport/socket.h"

namespace pareto::cluster {
namespace {

using std::chrono::milliseconds;

/// Returns the address of a host that answers. gRPC by itself tries the addresses of a name one
/// after the other, and waits long for one that swallows packets.
Expected<std::string> address_to_dial(const DeviceConfig& config, milliseconds timeout) {
  const auto asked = transport::parse_host_port(config.address);
  if (!asked) return config.address;
  PARETO_ASSIGN(const transport::HostPort picked,
                with_context(transport::pick_address(*asked, deadline_after(timeout)), "{}",
                             name_and_address(config)));
  return to_string(picked);
}

Expected<std::unique_ptr<DaemonClient>> connect_to_host(const DeviceConfig& config,
                                                        milliseconds timeout) {
  PARETO_ASSIGN(const std::string dialled, address_to_dial(config, timeout));
  return connect_over_grpc(config, dialled, timeout);
}

}  // namespace

Expected<std::unique_ptr<DaemonClient>> connect_daemon(const DeviceConfig& config,
                                                       milliseconds timeout) {
  if (!config.address.starts_with(discovery::kServiceScheme))
    return connect_to_host(config, timeout);
  PARETO_ASSIGN(
      const std::vector<std::string> hosts,
      with_context(discovery::find_service(config.address), "{}", name_and_address(config)));
  DeviceConfig found = config;
  for (std::size_t i = 0;; ++i) {
    found.address = hosts[i];
    auto client = connect_to_host(found, timeout);
    // The other hosts are there for one that is absent.
    const bool absent = !client && (client.error().code == ErrorCode::kUnavailable ||
                                    client.error().code == ErrorCode::kTimeout);
    if (!absent || i + 1 == hosts.size())
      return with_context(std::move(client), "{}", config.address);
  }
}

transport::LinkOptions link_options_to(const DaemonClient& device) {
  transport::LinkOptions options;
  if (!device.info().identity) return options;
  options.credentials = device.config().credentials;
  options.expected_peer = device.info().identity;
  return options;
}

void name_peers(const std::vector<DaemonClient*>& devices) {
  std::vector<std::string> addresses;
  for (const DaemonClient* const device : devices) {
    if (device == nullptr) continue;
    for (const auto& [transport, address] : device->info().data) addresses.push_back(address);
  }
  for (DaemonClient* const device : devices) {
    if (device != nullptr) device->name_peers(addresses);
  }
}

std::string resolve_data_address(const std::string& data, const std::string& control) {
  const std::size_t port = data.rfind(':');
  if (port == std::string::npos) return data;
  const std::string host = data.substr(0, port);
  if (host != "0.0.0.0" && host != "[::]" && host != "::" && host != "*" && !host.empty()) {
    return data;
  }
  // A daemon that is reached by a file is on this machine.
  if (control.starts_with("unix:")) return "127.0.0.1" + data.substr(port);
  return control.substr(0, control.rfind(':')) + data.substr(port);
}

}  // namespace pareto::cluster
