#include "core/tls/server_certificate.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <utility>

#include "core/tls/pem.h"
#include "core/tls/utc_text.h"
#include "core/tls/watched_files.h"

namespace pareto::tls {
namespace {

Expected<> use_certificates(SSL_CTX& context, const std::vector<Certificate>& certificates,
                            const CertificateFiles& files) {
  PARETO_ASSIGN(const Key key, with_context(read_key(files.key), "key"));
  if (X509_check_private_key(certificates.front().get(), key.get()) != 1) {
    ERR_clear_error();
    return fail(ErrorCode::kInvalidArgument,
                "key: {} does not belong to the first certificate in {}: name the two that were "
                "made together, and let the server's own certificate stand before its issuers'",
                files.key, files.certificate);
  }
  bool used = SSL_CTX_use_certificate(&context, certificates.front().get()) == 1 &&
              SSL_CTX_use_PrivateKey(&context, key.get()) == 1;
  for (std::size_t i = 1; used && i < certificates.size(); ++i) {
    used = SSL_CTX_add1_chain_cert(&context, certificates[i].get()) == 1;
  }
  if (used) return {};
  return fail(ErrorCode::kInvalidArgument, "certificate: {}: OpenSSL does not take it: {}",
              files.certificate, openssl_reason());
}

Expected<> ask_clients(SSL_CTX& context, const std::string& client_ca) {
  PARETO_ASSIGN(const std::vector<Certificate> authorities,
                with_context(read_certificates(client_ca), "client CA"));
  for (const Certificate& authority : authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), authority.get()) != 1 ||
        SSL_CTX_add_client_CA(&context, authority.get()) != 1) {
      return fail(ErrorCode::kInvalidArgument, "client CA: {}: OpenSSL does not take it: {}",
                  client_ca, openssl_reason());
    }
  }
  // Whom it signed may come, although another has signed it in turn.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(&context), X509_V_FLAG_PARTIAL_CHAIN);
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return {};
}

Expected<std::shared_ptr<SSL_CTX>> make_context() {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context)
    return fail(ErrorCode::kInternal, "TLS: OpenSSL does not begin: {}", openssl_reason());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Nothing is resumed, so that each client is checked each time.
  SSL_CTX_set_options(context.get(),
                      SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  return context;
}

}  // namespace

struct ServerCertificate::Impl {
  struct Loaded {
    std::shared_ptr<SSL_CTX> context;
    std::chrono::sys_seconds expiry;
    std::vector<std::string> warnings;
  };
  explicit Impl(CertificateFiles named)
      : files(std::move(named)), watched({files.certificate, files.key, files.client_ca}) {}

  Expected<Loaded> read() const {
    PARETO_ASSIGN(const std::vector<Certificate> certificates,
                  with_context(read_certificates(files.certificate), "certificate"));
    PARETO_ASSIGN(std::shared_ptr<SSL_CTX> context, make_context());
    Loaded loaded{std::move(context), std::chrono::sys_seconds::max(), {}};
    PARETO_TRY(use_certificates(*loaded.context, certificates, files));
    if (!files.client_ca.empty()) PARETO_TRY(ask_clients(*loaded.context, files.client_ca));
    // In seconds: nanoseconds do not reach the year 9999, which certificates may name.
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    for (const Certificate& certificate : certificates) {
      loaded.expiry = std::min(loaded.expiry, time_of(X509_get0_notAfter(certificate.get())));
      const auto begin = time_of(X509_get0_notBefore(certificate.get()));
      if (begin <= now) continue;
      loaded.warnings.push_back(
          fmt::format("certificate {} is not valid before {}: is the clock of this device right?",
                      files.certificate, utc_text(begin)));
    }
    if (loaded.expiry <= now) {
      loaded.warnings.push_back(
          fmt::format("certificate {} has expired ({}): clients refuse it until it is renewed",
                      files.certificate, utc_text(loaded.expiry)));
    }
    if (all_may_read(files.key)) {
      loaded.warnings.push_back(
          fmt::format("key {} may be read by every user: chmod o-r", files.key));
    }
    return loaded;
  }

  const CertificateFiles files;
  WatchedFiles<Loaded> watched;
};

Expected<> CertificateFiles::check() const {
  if (certificate.empty() != key.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "{} {} is named alone: TLS takes both, a certificate and its key",
                key.empty() ? "certificate" : "key", key.empty() ? certificate : key);
  }
  if (certificate.empty() && !client_ca.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "client CA {} is named without a certificate: who clients are is asked over TLS "
                "alone, which takes a certificate and its key",
                client_ca);
  }
  return {};
}

ServerCertificate::ServerCertificate(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ServerCertificate::~ServerCertificate() = default;

Expected<std::shared_ptr<ServerCertificate>> ServerCertificate::load(
    const CertificateFiles& files) {
  PARETO_TRY(files.check());
  if (files.certificate.empty()) return nullptr;
  std::shared_ptr<ServerCertificate> certificate(
      new ServerCertificate(std::make_unique<Impl>(files)));
  PARETO_TRY(certificate->refresh());
  return certificate;
}

Expected<bool> ServerCertificate::refresh() {
  return impl_->watched.refresh([this] { return impl_->read(); });
}

std::shared_ptr<SSL_CTX> ServerCertificate::context() const {
  return impl_->watched.in_use()->context;
}

std::chrono::sys_seconds ServerCertificate::expiry() const {
  return impl_->watched.in_use()->expiry;
}

std::vector<std::string> ServerCertificate::warnings() const {
  return impl_->watched.in_use()->warnings;
}

}  // namespace pareto::tls
