#include <algorithm>
#include <utility>

#include "coordinator/cluster/control_address.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/grpc_daemon_client.h"
#include "coordinator/cluster/tls_problem.h"
#include "coordinator/discovery/service_lookup.h"
#include "core/tls/credentials.h"
#include "core/transport/address.h"
#include "core/transport/socket.h"

namespace pareto::cluster {
namespace {

using std::chrono::milliseconds;

/// The time to find out why no call came through.
constexpr milliseconds kDiagnosing{2000};

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

/// Connects over TLS by these credentials; null: without.
Expected<std::unique_ptr<DaemonClient>> describe_twice(
    const DeviceConfig& config, const std::string& dialled,
    const std::shared_ptr<const tls::Credentials>& own, milliseconds timeout) {
  // The second time is for gRPC, which now and then takes a connection under way for a failed one
  // (core/transport/grpc). If nobody listens it costs nothing.
  auto client = describe_over_grpc(config, dialled, own, timeout);
  if (client || client.error().code != ErrorCode::kUnavailable) return client;
  return describe_over_grpc(config, dialled, own, timeout);
}

/// Connects to a daemon. Over a network it takes credentials, unless the device is insecure. Those
/// who have credentials use them on this machine too: a tunnel to another one may stand there.
/// Fails: as describe_over_grpc(); kPermission (TLS: each with its remedy).
Expected<std::unique_ptr<DaemonClient>> connect_over_grpc(const DeviceConfig& config,
                                                          const std::string& dialled,
                                                          milliseconds timeout) {
  const bool leaves_the_machine = transport::is_of_network(dialled);
  if (leaves_the_machine && !config.insecure && config.credentials == nullptr) {
    return fail(ErrorCode::kPermission,
                "{}: it is reached over a network, and you have no credentials: paretoctl pki init "
                "makes yours, and paretoctl pki issue those of a device; for a test bed say "
                "insecure: true in the inventory, or --insecure",
                name_and_address(config));
  }
  const bool plain = config.insecure || transport::is_unix(dialled);
  const auto own = plain ? nullptr : config.credentials;
  auto client = describe_twice(config, dialled, own, timeout);
  if (client || client.error().code != ErrorCode::kUnavailable || transport::is_unix(dialled)) {
    return client;
  }
  const std::string why = tls_problem(dialled, own.get(), config.identity,
                                      *deadline_after(std::min(timeout, kDiagnosing)));
  if (why.empty()) return client;
  return fail(ErrorCode::kPermission, "{}: {}", name_and_address(config), why);
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

}  // namespace pareto::cluster
