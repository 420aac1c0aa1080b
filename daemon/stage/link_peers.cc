#include "daemon/stage/link_peers.h"

namespace pareto::daemon {

Expected<> check_opens_links(const transport::PeerIdentity& peer) {
  if (!peer.certificate || peer.certificate->role != tls::Role::kObserver) return {};
  return fail(ErrorCode::kPermission, "{} may not open links: use the credentials of a coordinator",
              peer.name);
}

Expected<> check_holds(const tls::Credentials* own, const transport::PeerIdentity& peer) {
  if (own == nullptr || !peer.certificate) return {};
  PARETO_TRY(with_context(own->judge_again(peer.chain), "{}", peer.name));
  return {};
}

Expected<> check_named(const LinkPeers& named, control::Role role,
                       const transport::PeerIdentity& peer) {
  const std::string& who = role == control::Role::kSink ? named.sink : named.upstream;
  if (who.empty()) return {};
  const bool of_this_machine = peer.authenticated && !peer.certificate;
  if (of_this_machine || (peer.certificate && to_string(*peer.certificate) == who)) return {};
  return fail(ErrorCode::kPermission,
              "{} is not the one whom the coordinator named for the {} link of this stage",
              to_string(peer), to_string(role));
}

}  // namespace pareto::daemon
