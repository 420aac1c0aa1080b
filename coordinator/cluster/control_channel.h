// The connection that calls to one daemon share.
#pragma once

#include <memory>
#include <string>

namespace grpc {
class Channel;
}

namespace pareto::cluster {

/// Opens a connection to a daemon's control, which nothing else shares. It carries messages of up
/// to 256 MiB, and breaks within half a minute if the device hangs. Connecting begins with the
/// first call.
std::shared_ptr<grpc::Channel> control_channel(const std::string& dialled);

}  // namespace pareto::cluster
