// Why no call reaches a daemon, if TLS is the reason: gRPC says only that a handshake failed.
#pragma once

#include <string>

#include "core/base/clock.h"
#include "core/tls/credentials.h"

namespace pareto::cluster {

/// Shakes hands with the program that listens there, as a call does. Returns half a sentence with
/// its remedy; empty if TLS is not the reason. `own`: null if there are no credentials. `expected`:
/// name of the device; empty: any device. Takes at most until the deadline.
std::string tls_problem(const std::string& address, const tls::Credentials* own,
                        const std::string& expected, TimePoint deadline);

}  // namespace pareto::cluster
