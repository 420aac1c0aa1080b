#include "daemon/control/caller.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <array>

#include "core/tls/credentials.h"
#include "core/transport/grpc/secure.h"

namespace pareto::daemon {
namespace {

/// Calls that change nothing and tell nothing of others' work. All other calls are a coordinator's.
constexpr std::array<std::string_view, 4> kObserversCalls{"Describe", "Status", "Observe", "Clock"};

bool may_call(tls::Role role, std::string_view call) {
  switch (role) {
    case tls::Role::kCoordinator:
      return true;
    case tls::Role::kObserver:
      return std::ranges::find(kObserversCalls, call) != kObserversCalls.end();
    case tls::Role::kDevice:
      return false;
  }
  return false;
}

constexpr std::string_view kUnixPeer = "unix";

tl::unexpected<Error> without_certificate() {
  return fail(ErrorCode::kPermission, "this call came without a certificate");
}

Expected<tls::Identity> judged(const Caller& caller, const tls::Credentials& credentials) {
  if (caller.certificates.empty()) return without_certificate();
  return with_context(credentials.judge_again(caller.certificates),
                      "this device does not take your credentials");
}

}  // namespace

std::string host_of_peer(std::string peer) {
  const std::size_t scheme = peer.find(':');
  const std::size_t port = peer.rfind(':');
  if (scheme == std::string::npos || port <= scheme) return peer;
  peer = peer.substr(scheme + 1, port - scheme - 1);
  for (const char* bracket : {"%5B", "%5D", "[", "]"}) {
    if (const std::size_t at = peer.find(bracket); at != std::string::npos) {
      peer.erase(at, std::string_view(bracket).size());
    }
  }
  return peer;
}

Expected<Caller> caller_of(const grpc::ServerContextBase& context,
                           const tls::Credentials* credentials) {
  Caller caller;
  const std::string peer = context.peer();
  caller.host = peer.starts_with(kUnixPeer) ? std::string(kUnixPeer) : host_of_peer(peer);
  if (const auto shown = context.auth_context()) {
    caller.certificates = transport::grpc_peer_certificates(*shown);
  }
  // With credentials only the Unix socket takes calls without a certificate.
  const bool plain = caller.certificates.empty();
  if (plain && (credentials == nullptr || caller.host == kUnixPeer)) return caller;
  if (credentials == nullptr) return without_certificate();
  PARETO_ASSIGN(caller.identity, judged(caller, *credentials));
  return caller;
}

Expected<Caller> caller_of(const grpc::AuthContext& shown, const tls::Credentials& credentials) {
  Caller caller;
  caller.certificates = transport::grpc_peer_certificates(shown);
  PARETO_ASSIGN(caller.identity, judged(caller, credentials));
  return caller;
}

Expected<> check_holds(const Caller& caller, const tls::Credentials* credentials) {
  if (credentials == nullptr || !caller.identity) return {};
  PARETO_TRY(judged(caller, *credentials));
  return {};
}

Expected<> check_role(const Caller& caller, std::string_view call) {
  if (may_call(caller.role(), call)) return {};
  return fail(ErrorCode::kPermission,
              "the role {} may not call {}: use the credentials of a coordinator",
              tls::to_string(caller.role()), call);
}

}  // namespace pareto::daemon
