// Who is at the other end of a link, as far as this side knows.
#pragma once

#include <string>

namespace pareto::transport {

/// The name of a peer, and whether anybody vouches for it.
///
/// | transport | name | vouched for by |
/// |---|---|---|
/// | tcp, grpc | its address | nobody: all who reach the port may have it |
/// | shm | the user of its process | the kernel |
/// | inproc | this process | there is nobody else |
struct PeerIdentity {
  std::string name;  ///< "192.168.1.12:40312", "user 1000 of this machine", "this process"
  bool authenticated = false;  ///< true: something that this side trusts vouches for the name
};

/// Returns "192.168.1.12:40312 (not authenticated)", or the name only if it is authenticated.
std::string to_string(const PeerIdentity& identity);

}  // namespace pareto::transport
