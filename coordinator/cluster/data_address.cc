// Addresses at which links to a device come in.
#include "coordinator/cluster/daemon_client.h"
#include "core/transport/address.h"

namespace pareto::cluster {

std::string resolve_data_address(const std::string& data, const std::string& control) {
  const std::size_t port = data.rfind(':');
  if (port == std::string::npos) return data;
  const std::string host = data.substr(0, port);
  if (host != "0.0.0.0" && host != "[::]" && host != "::" && host != "*" && !host.empty()) {
    return data;
  }
  // A daemon that is reached by a file is on this machine.
  if (transport::is_unix(control)) return "127.0.0.1" + data.substr(port);
  return control.substr(0, control.rfind(':')) + data.substr(port);
}

}  // namespace pareto::cluster
