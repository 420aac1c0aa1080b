#include "core/transport/grpc/secure.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <grpcpp/support/channel_arguments.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <utility>
#include <vector>

#include "core/base/file.h"

namespace pareto::transport {
namespace {

constexpr unsigned kRefreshSeconds = 5;
constexpr auto kClients = GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY;

/// Returns a path by which this process reads what it keeps in memory.
std::string path_of(const FileDescriptor& memory) {
  return fmt::format("/proc/self/fd/{}", memory.get());
}

Expected<> write(const FileDescriptor& memory, const std::string& text) {
  const auto size = static_cast<ssize_t>(text.size());
  if (::ftruncate(memory.get(), 0) == 0 &&
      ::pwrite(memory.get(), text.data(), text.size(), 0) == size) {
    return {};
  }
  return tl::unexpected(error_from_errno(errno, "keeping certificates in memory"));
}

}  // namespace

std::shared_ptr<::grpc::ServerCredentials> grpc_server_credentials(const tls::Credentials* own) {
  if (own == nullptr) return ::grpc::InsecureServerCredentials();
  tls::PemTexts pem = own->pem();
  ::grpc::SslServerCredentialsOptions options(kClients);
  options.pem_root_certs = std::move(pem.authority);
  options.pem_key_cert_pairs.push_back({std::move(pem.key), std::move(pem.certificate)});
  return ::grpc::SslServerCredentials(options);
}

Expected<std::unique_ptr<RenewedCertificates>> RenewedCertificates::make(
    const tls::Credentials& own) {
  std::unique_ptr<RenewedCertificates> made(new RenewedCertificates());
  for (FileDescriptor* const file : {&made->certificate_, &made->key_, &made->authority_}) {
    *file = FileDescriptor(::memfd_create("pareto-certificates", MFD_CLOEXEC));
    if (!*file) return tl::unexpected(error_from_errno(errno, "keeping certificates in memory"));
  }
  PARETO_TRY(made->renew(own));
  return made;
}

Expected<> RenewedCertificates::renew(const tls::Credentials& own) {
  const tls::PemTexts pem = own.pem();
  PARETO_TRY(write(certificate_, pem.certificate));
  PARETO_TRY(write(key_, pem.key));
  return write(authority_, pem.authority);
}

std::shared_ptr<::grpc::ServerCredentials> RenewedCertificates::credentials() const {
  const auto files = std::make_shared<::grpc::experimental::FileWatcherCertificateProvider>(
      path_of(key_), path_of(certificate_), path_of(authority_), kRefreshSeconds);
  ::grpc::experimental::TlsServerCredentialsOptions options(files);
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_cert_request_type(kClients);
  return ::grpc::experimental::TlsServerCredentials(options);
}

namespace {

using ::grpc::experimental::TlsCustomVerificationCheckRequest;

/// Judges the server of each connection of a channel.
///
/// Threads: any; it has no state that changes.
class ServerJudge final : public ::grpc::experimental::ExternalCertificateVerifier {
 public:
  ServerJudge(std::shared_ptr<const tls::Credentials> own, std::string server)
      : own_(std::move(own)), server_(std::move(server)) {}

  bool Verify(TlsCustomVerificationCheckRequest* request,
              std::function<void(::grpc::Status)> /*callback*/, ::grpc::Status* verdict) override {
    try {
      const ::grpc::string_ref chain = request->peer_cert_full_chain();
      if (const auto judged = judge(std::string(chain.data(), chain.size())); !judged) {
        *verdict = {::grpc::StatusCode::UNAUTHENTICATED, judged.error().message};
      }
    } catch (const std::bad_alloc&) {
      *verdict = {::grpc::StatusCode::RESOURCE_EXHAUSTED, "no memory"};
    }
    return true;
  }
  void Cancel(TlsCustomVerificationCheckRequest* /*request*/) override {}

 private:
  Expected<> judge(const std::string& chain) const {
    PARETO_ASSIGN(const tls::Identity identity, own_->judge(chain));
    if (tls::answers_to(identity, server_)) return {};
    return fail(ErrorCode::kPermission, "{} answers, not {}", to_string(identity), server_);
  }

  const std::shared_ptr<const tls::Credentials> own_;
  const std::string server_;
};

/// Sets what every channel needs.
void prepare(::grpc::ChannelArguments& arguments) {
  // At an answer without a status, the filter of retries of gRPC 1.51 ends the process: a server,
  // or one wrong bit, would end its clients. Nothing here leaves repeating a call to gRPC.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
}

}  // namespace

std::shared_ptr<::grpc::ChannelCredentials> grpc_channel_credentials(
    std::shared_ptr<const tls::Credentials> own, const std::string& server,
    ::grpc::ChannelArguments& arguments) {
  namespace experimental = ::grpc::experimental;
  prepare(arguments);
  if (own == nullptr) return ::grpc::InsecureChannelCredentials();
  arguments.SetSslTargetNameOverride(server);
  tls::PemTexts pem = own->pem();
  const std::vector<experimental::IdentityKeyCertPair> shown{
      {std::move(pem.key), std::move(pem.certificate)}};
  experimental::TlsChannelCredentialsOptions options;
  options.set_certificate_provider(
      std::make_shared<experimental::StaticDataCertificateProvider>(pem.authority, shown));
  options.watch_root_certs();
  options.watch_identity_key_cert_pairs();
  options.set_certificate_verifier(
      experimental::ExternalCertificateVerifier::Create<ServerJudge>(std::move(own), server));
  return experimental::TlsCredentials(options);
}

std::shared_ptr<::grpc::ChannelCredentials> grpc_credentials_to_self(
    const tls::Credentials* own, ::grpc::ChannelArguments& arguments) {
  prepare(arguments);
  if (own == nullptr) return ::grpc::InsecureChannelCredentials();
  arguments.SetSslTargetNameOverride(tls::dns_name(own->identity()));
  tls::PemTexts pem = own->pem();
  ::grpc::SslCredentialsOptions options;
  options.pem_root_certs = std::move(pem.authority);
  options.pem_private_key = std::move(pem.key);
  options.pem_cert_chain = std::move(pem.certificate);
  return ::grpc::SslCredentials(options);
}

std::string grpc_peer_certificates(const ::grpc::AuthContext& context) {
  // The chain of a client lacks its own, that of a server begins with it.
  std::string chain;
  for (const char* const property :
       {GRPC_X509_PEM_CERT_PROPERTY_NAME, GRPC_X509_PEM_CERT_CHAIN_PROPERTY_NAME}) {
    for (const auto& part : context.FindPropertyValues(property)) {
      chain.append(part.data(), part.size());
    }
  }
  return chain;
}

Expected<GrpcPeer> grpc_peer(const tls::Credentials& own, const ::grpc::AuthContext& context) {
  std::string chain = grpc_peer_certificates(context);
  PARETO_ASSIGN(tls::Identity identity, own.judge(chain));
  return GrpcPeer{std::move(identity), std::move(chain)};
}

}  // namespace pareto::transport
