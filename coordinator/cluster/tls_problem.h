// Why no call reaches a daemon, if TLS is the reason: gRPC says only that a handshake failed.
#pragma once

#include <string>

#include "core/base/clock.h"
#include "core/tls/credentials.h"

namespace pareto::cluster {

/// Findings about a port that no call reaches.
struct TlsProblem {
  bool speaks_tls = false;
  std::string why;  ///< half a sentence with its remedy; empty: TLS is not the reason
};

/// Shakes hands with the program that listens there, as a call does. `own`: null if there are no
/// credentials. `expected`: name of the device; empty: any device. Takes at most until the
/// deadline.
TlsProblem tls_problem(const std::string& address, const tls::Credentials* own,
                       const std::string& expected, TimePoint deadline);

}  // namespace pareto::cluster
