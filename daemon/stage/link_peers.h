// Who may speak on the links of this device's stages.
#pragma once

#include <string>

#include "core/base/error.h"
#include "core/control/hello.h"
#include "core/tls/credentials.h"
#include "core/transport/peer_identity.h"

namespace pareto::daemon {

/// Those whom a coordinator named when it opened a stage, "device pi-1" as certificates name them.
/// Empty: nobody was named.
struct LinkPeers {
  std::string upstream{};  ///< sends requests
  std::string sink{};      ///< takes the results
};

/// Checks that a peer may open links at all. An observer may not. Who has shown no certificate is
/// let in: then nobody needs one here, or the kernel vouches for its user. Fails: kPermission.
Expected<> check_opens_links(const transport::PeerIdentity& peer);

/// Checks that the certificate of a peer still holds, by the list of those taken back that is in
/// use now. Who has shown none passes, and all do without credentials (null). Fails: kPermission.
Expected<> check_holds(const tls::Credentials* own, const transport::PeerIdentity& peer);

/// Checks that a peer that says hello in `role` is the one that was named. A user of this machine,
/// whom the kernel vouches for, passes. Fails: kPermission, in a sentence that does not give away
/// who was named.
Expected<> check_named(const LinkPeers& named, control::Role role,
                       const transport::PeerIdentity& peer);

}  // namespace pareto::daemon
