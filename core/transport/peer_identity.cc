#include "core/transport/peer_identity.h"

namespace pareto::transport {

std::string to_string(const PeerIdentity& identity) {
  return identity.authenticated ? identity.name : identity.name + " (not authenticated)";
}

}  // namespace pareto::transport
