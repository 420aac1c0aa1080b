// Finds out why nobody speaks TLS with this side, for a library that does not tell.
#pragma once

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/address.h"
#include "core/transport/link_options.h"

namespace pareto::transport {

/// Connects, shakes hands with the credentials in `options` (which has some), waits until the peer
/// says something, at most for two seconds, and hangs up. Fails: as TlsStream::connect() of
/// core/transport/tcp does, kPermission too if the peer refuses this side after the handshake.
Expected<> check_tls(const HostPort& address, const LinkOptions& options, Deadline deadline);

}  // namespace pareto::transport
