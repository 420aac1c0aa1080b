// The last thing to do with a socket before it is closed. Internal to core/transport/tcp.
#pragma once

#include "core/base/file_descriptor.h"

namespace pareto::transport::tcp {

/// Drops what has come and was not read, up to 64 MiB. A socket that is closed with unread bytes
/// resets the connection, and what this side sent last would be lost with it.
void drain(const FileDescriptor& socket);

}  // namespace pareto::transport::tcp
