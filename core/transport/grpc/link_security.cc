#include "core/transport/grpc/link_security.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <utility>

#include "core/transport/grpc/secure.h"

namespace pareto::transport::grpc {

std::shared_ptr<::grpc::ServerCredentials> server_credentials(const tls::Credentials* credentials) {
  if (credentials == nullptr) return ::grpc::InsecureServerCredentials();
  tls::PemTexts pem = credentials->pem();
  ::grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = std::move(pem.authority);
  options.pem_key_cert_pairs.push_back({std::move(pem.key), std::move(pem.certificate)});
  return ::grpc::SslServerCredentials(options);
}

std::shared_ptr<::grpc::ChannelCredentials> channel_credentials(
    const tls::Credentials* credentials) {
  if (credentials == nullptr) return ::grpc::InsecureChannelCredentials();
  tls::PemTexts pem = credentials->pem();
  ::grpc::SslCredentialsOptions options;
  options.pem_root_certs = std::move(pem.authority);
  options.pem_private_key = std::move(pem.key);
  options.pem_cert_chain = std::move(pem.certificate);
  return ::grpc::SslCredentials(options);
}

Expected<tls::Identity> peer_of(const ::grpc::AuthContext& call,
                                const tls::Credentials& credentials) {
  return credentials.judge(grpc_peer_certificates(call));
}

}  // namespace pareto::transport::grpc
