#include "core/tls/server_certificate.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/file.h"

namespace pareto::tls {
namespace {

constexpr std::uint64_t kLimitBytes = std::uint64_t{4} << 20;  // a bundle of many authorities

template <auto Free>
struct FreedBy {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Bio = std::unique_ptr<BIO, FreedBy<BIO_free>>;
using Certificate = std::unique_ptr<X509, FreedBy<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;

/// Returns what OpenSSL says of its last failure, which it forgets.
std::string reason() {
  const char* const text = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return text == nullptr ? "unknown error" : text;
}

Expected<Bio> open_pem(const std::string& path) {
  auto content = read_file(path, kLimitBytes);
  if (!content) {
    Error& error = content.error();
    if (error.code == ErrorCode::kPermission) {
      error.message += " (the user that serves needs to read it: chgrp, chmod g+r)";
    } else {
      error.code = ErrorCode::kInvalidArgument;
    }
    return tl::unexpected(std::move(error));
  }
  const std::string& pem = *content;
  Bio bio(BIO_new(BIO_s_mem()));
  BIO_write(bio.get(), pem.data(), static_cast<int>(pem.size()));
  ERR_clear_error();
  return bio;
}

Expected<std::vector<Certificate>> read_certificates(const std::string& path) {
  PARETO_ASSIGN(const Bio pem, open_pem(path));
  std::vector<Certificate> certificates;
  while (Certificate next{PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr)}) {
    certificates.push_back(std::move(next));
  }
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) {
    return fail(ErrorCode::kInvalidArgument, "{}: certificate {} in it is broken: {}", path,
                certificates.size() + 1, reason());
  }
  ERR_clear_error();
  if (certificates.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: no certificate in it (PEM begins one with -----BEGIN CERTIFICATE-----; other "
                "forms are turned into it by openssl x509)",
                path);
  }
  return certificates;
}

Expected<Key> read_key(const std::string& path) {
  PARETO_ASSIGN(const Bio pem, open_pem(path));
  bool locked = false;
  // OpenSSL's own would ask a terminal.
  const auto no_passphrase = [](char* /*buffer*/, int /*size*/, int /*writing*/, void* asked) {
    *static_cast<bool*>(asked) = true;
    return -1;
  };
  Key key(PEM_read_bio_PrivateKey(pem.get(), nullptr, no_passphrase, &locked));
  if (key) return key;
  const std::string why = reason();
  if (locked) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: the key has a passphrase, and nobody is there to be asked (openssl pkey -in "
                "FILE -out NEW writes it without)",
                path);
  }
  return fail(ErrorCode::kInvalidArgument,
              "{}: no private key in it (PEM begins one with -----BEGIN PRIVATE KEY-----): {}",
              path, why);
}

std::chrono::sys_seconds time_of(const ASN1_TIME* time) {
  std::tm parts{};
  ASN1_TIME_to_tm(time, &parts);
  return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&parts)));
}

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
              files.certificate, reason());
}

Expected<> ask_clients(SSL_CTX& context, const std::string& client_ca) {
  PARETO_ASSIGN(const std::vector<Certificate> authorities,
                with_context(read_certificates(client_ca), "client CA"));
  for (const Certificate& authority : authorities) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), authority.get()) != 1 ||
        SSL_CTX_add_client_CA(&context, authority.get()) != 1) {
      return fail(ErrorCode::kInvalidArgument, "client CA: {}: OpenSSL does not take it: {}",
                  client_ca, reason());
    }
  }
  // Whom it signed may come, although another has signed it in turn.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(&context), X509_V_FLAG_PARTIAL_CHAIN);
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return {};
}

Expected<std::shared_ptr<SSL_CTX>> make_context() {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context) return fail(ErrorCode::kInternal, "TLS: OpenSSL does not begin: {}", reason());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Nothing is resumed, so that each client is checked each time.
  SSL_CTX_set_options(context.get(),
                      SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  return context;
}

/// The state that tells a file from what it was; zeros if it is not seen.
struct Stamp {
  std::uint64_t inode = 0;
  std::int64_t bytes = 0;
  std::array<std::int64_t, 4> changed{};  ///< content; content or permissions: seconds, nanoseconds
  bool operator==(const Stamp&) const = default;
};

Stamp stamp_of(const std::string& path) {
  struct stat status {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return {};
  return {status.st_ino,
          status.st_size,
          {status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
           status.st_ctim.tv_nsec}};
}

bool all_may_read(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && (status.st_mode & S_IROTH) != 0;
}

}  // namespace

struct ServerCertificate::Impl {
  struct Loaded {
    std::shared_ptr<SSL_CTX> context;
    std::chrono::sys_seconds expiry;
    std::vector<std::string> warnings;
  };
  using Stamps = std::array<Stamp, 3>;

  explicit Impl(CertificateFiles named) : files(std::move(named)) {}

  Stamps stamps() const {
    return {stamp_of(files.certificate), stamp_of(files.key), stamp_of(files.client_ca)};
  }

  Expected<Loaded> read() const {
    PARETO_ASSIGN(const std::vector<Certificate> certificates,
                  with_context(read_certificates(files.certificate), "certificate"));
    PARETO_ASSIGN(std::shared_ptr<SSL_CTX> context, make_context());
    Loaded loaded{std::move(context), std::chrono::sys_seconds::max(), {}};
    PARETO_TRY(use_certificates(*loaded.context, certificates, files));
    if (!files.client_ca.empty()) PARETO_TRY(ask_clients(*loaded.context, files.client_ca));
    const auto now = std::chrono::system_clock::now();
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
  mutable std::mutex mutex;  ///< guards the following members
  /// Stamps of the files when they were taken; no value means not yet.
  std::optional<Stamps> taken;
  std::optional<Stamps>
      refused;  ///< … when they could not be; they are not read again until they change
  Error refusal{};
  Loaded in_use;
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
  const std::lock_guard lock(impl_->mutex);
  // Before they are read: what changes meanwhile is read again.
  const Impl::Stamps now = impl_->stamps();
  if (now == impl_->taken) return false;
  if (now == impl_->refused) return tl::unexpected(impl_->refusal);
  auto read = impl_->read();
  if (!read) {
    impl_->refused = now;
    impl_->refusal = read.error();
    return tl::unexpected(std::move(read).error());
  }
  impl_->in_use = *std::move(read);
  impl_->taken = now;
  return true;
}

std::shared_ptr<SSL_CTX> ServerCertificate::context() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->in_use.context;
}

std::chrono::sys_seconds ServerCertificate::expiry() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->in_use.expiry;
}

std::vector<std::string> ServerCertificate::warnings() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->in_use.warnings;
}

std::string utc_text(std::chrono::sys_seconds time) {
  const std::time_t seconds = time.time_since_epoch().count();
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts)};
}

}  // namespace pareto::tls
