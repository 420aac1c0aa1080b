// The connection that calls to one daemon share.
#pragma once

#include <memory>
#include <string>

#include "core/tls/credentials.h"

namespace grpc {
class Channel;
}

namespace pareto::cluster {

/// Opens a connection to a daemon's control, which nothing else shares. `own`: null for one without
/// TLS. `server`: the name that the daemon's certificate has to hold (tls::dns_name). It carries
/// messages of up to 256 MiB, and breaks within 18 s if the device hangs. Connecting begins with
/// the first call.
std::shared_ptr<grpc::Channel> control_channel(
    const std::string& dialled, std::shared_ptr<const tls::Credentials> own = nullptr,
    const std::string& server = "");

}  // namespace pareto::cluster
