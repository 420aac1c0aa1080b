// Who makes a call, and which calls each role may make.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/tls/identity.h"

namespace grpc {
class AuthContext;
class ServerContextBase;
}  // namespace grpc
namespace pareto::tls {
class Credentials;
}

namespace pareto::daemon {

/// The other end of a call.
struct Caller {
  /// The identity that its certificate names. It has no value if the call came without
  /// one: by the Unix socket, from this machine, or to a daemon that lets everybody in.
  std::optional<tls::Identity> identity;
  /// Its host, "10.0.0.1", or "unix" for a user of this machine.
  std::string host;
  std::string certificates{};  ///< certificates that it showed, as PEM, or ""

  /// Returns its role: a user of this machine is a coordinator.
  tls::Role role() const { return identity ? identity->role : tls::Role::kCoordinator; }
  /// Returns what tells it from others: "coordinator laptop", or its host.
  std::string name() const { return identity ? tls::to_string(*identity) : host; }
};

/// Returns who makes a call. `credentials`: null if the server takes everybody. Fails: kPermission
/// (its certificate has been revoked, has expired or names nobody).
Expected<Caller> caller_of(const grpc::ServerContextBase& context,
                           const tls::Credentials* credentials);

/// Returns who opened a connection, by the certificates that it showed. Its host is not known.
/// Fails: as the other caller_of().
Expected<Caller> caller_of(const grpc::AuthContext& shown, const tls::Credentials& credentials);

/// Checks that the certificate of a caller still holds. One without a certificate passes. Fails: as
/// caller_of().
Expected<> check_holds(const Caller& caller, const tls::Credentials* credentials);

/// Checks that a caller's role may make that call of control.proto: "LoadShard". Fails:
/// kPermission; the sentence names no path and no name of this device.
Expected<> check_role(const Caller& caller, std::string_view call);

/// Returns "10.0.0.1" of "ipv4:10.0.0.1:4711", "fe80::1" of "ipv6:%5Bfe80::1%5D:4711". Anything
/// else comes back as it is.
std::string host_of_peer(std::string peer);

}  // namespace pareto::daemon
