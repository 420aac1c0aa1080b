// Who is at the other end of a link, as far as this side knows.
#pragma once

#include <optional>
#include <string>

#include "core/tls/identity.h"

namespace pareto::transport {

/// The name of a peer, and whether anybody vouches for it.
///
/// | transport | name | vouched for by |
/// |---|---|---|
/// | tcp, grpc | its address | nobody: all who reach the port may have it |
/// | tcp, grpc with credentials | the identity in its certificate | an authority (core/tls) |
/// | shm | the user of its process | the kernel |
/// | inproc | this process | there is nobody else |
struct PeerIdentity {
  /// "192.168.1.12:40312", "device pi-1", "user 1000 of this machine", "this process"
  std::string name;
  bool authenticated = false;  ///< true: something that this side trusts vouches for the name
  /// The identity that the peer's certificate names; no value if it has shown no certificate.
  std::optional<tls::Identity> certificate = std::nullopt;
  /// The certificates that it showed, as PEM and its own first: tls::Credentials::judge() says
  /// whether they still hold. Empty if it has shown none.
  std::string chain{};
};

/// Returns "192.168.1.12:40312 (not authenticated)", or the name only if it is authenticated.
std::string to_string(const PeerIdentity& identity);

}  // namespace pareto::transport
