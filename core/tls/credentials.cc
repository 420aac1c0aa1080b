#include "core/tls/credentials.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <utility>

#include "core/tls/pem.h"
#include "core/tls/trust.h"
#include "core/tls/utc_text.h"
#include "core/tls/watched_files.h"

namespace pareto::tls {
namespace {

using Names = std::unique_ptr<GENERAL_NAMES, FreedBy<GENERAL_NAMES_free>>;

constexpr std::chrono::days kRenewWithin{30};
// A chain of keys of 4096 bits with two issuers has a quarter of it. A stranger's is read before
// anybody knows who it is.
constexpr int kLongestChainBytes = 16 << 10;

struct Paths {
  std::string certificate, key, authority, revoked;
};

Paths paths_in(const std::filesystem::path& folder) {
  return {folder / kCertificateFile, folder / kKeyFile, folder / kAuthorityFile,
          folder / kRevokedFile};
}

Expected<Identity> identity_of(X509& certificate) {
  const Names names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> dns_names;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS) continue;
    const ASN1_STRING* const text = name->d.dNSName;
    dns_names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                           static_cast<std::size_t>(ASN1_STRING_length(text)));
  }
  return identity_among(dns_names);
}

/// Checks that peers take what this side will show them. Fails: kInvalidArgument.
Expected<> check_length(const std::vector<Certificate>& own, const std::string& path) {
  // TLS 1.3 adds bytes to each certificate, and to all of them.
  constexpr int kAroundEach = 5;
  int bytes = 4;
  for (const Certificate& one : own) bytes += i2d_X509(one.get(), nullptr) + kAroundEach;
  if (bytes <= kLongestChainBytes) return {};
  return fail(ErrorCode::kInvalidArgument,
              "certificate: {}: its certificates have {} bytes, and peers take at most {}: leave "
              "only its own and those between it and the authority in it",
              path, bytes, kLongestChainBytes);
}

Expected<std::shared_ptr<SSL_CTX>> make_context(const std::vector<Certificate>& own, EVP_PKEY& key,
                                                X509_STORE& store) {
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_method()), SSL_CTX_free);
  bool used = context != nullptr &&
              SSL_CTX_set_min_proto_version(context.get(), TLS1_3_VERSION) == 1 &&
              SSL_CTX_use_certificate(context.get(), own.front().get()) == 1 &&
              SSL_CTX_use_PrivateKey(context.get(), &key) == 1;
  for (std::size_t i = 1; used && i < own.size(); ++i) {
    used = SSL_CTX_add1_chain_cert(context.get(), own[i].get()) == 1;
  }
  if (!used)
    return fail(ErrorCode::kInvalidArgument, "OpenSSL does not take it: {}", openssl_reason());
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_num_tickets(context.get(), 0);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_max_cert_list(context.get(), kLongestChainBytes);
  SSL_CTX_set1_cert_store(context.get(), &store);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                     verify_as_said);
  return context;
}

}  // namespace

struct Credentials::Impl {
  struct Loaded {
    Identity identity;
    PemTexts pem;
    std::shared_ptr<SSL_CTX> context;
    std::chrono::sys_seconds expiry{};
    ListNumbers lists{};  ///< Trust::lists, of all authorities since the process began
  };

  explicit Impl(const std::filesystem::path& folder)
      : paths(paths_in(folder)),
        watched({paths.certificate, paths.key, paths.authority, paths.revoked}) {}

  /// `before`: what is in use; null: nothing yet.
  Expected<Loaded> read(const Loaded* before) const {
    PARETO_ASSIGN(const std::vector<Certificate> own,
                  with_context(read_certificates(paths.certificate), "certificate"));
    PARETO_TRY(check_length(own, paths.certificate));
    PARETO_ASSIGN(const Key key, with_context(read_key(paths.key), "key"));
    PARETO_ASSIGN(const Trust trust, read_trust({paths.authority, paths.revoked}));
    if (X509_check_private_key(own.front().get(), key.get()) != 1) {
      ERR_clear_error();
      return fail(
          ErrorCode::kInvalidArgument,
          "key: {} does not belong to the first certificate in {}: the two are made together",
          paths.key, paths.certificate);
    }
    Loaded loaded;
    PARETO_ASSIGN(loaded.identity,
                  with_context(identity_of(*own.front()), "certificate: {}", paths.certificate));
    const std::string reason = reason_against(*trust.store, own, verify_undated);
    if (!reason.empty()) {
      return fail(
          ErrorCode::kInvalidArgument,
          "certificate: {} does not hold against {}: {}: paretoctl pki issue makes one that "
          "does",
          paths.certificate, paths.authority, reason);
    }
    PARETO_ASSIGN(loaded.context, with_context(make_context(own, *key, *trust.store),
                                               "certificate: {}", paths.certificate));
    PARETO_ASSIGN(loaded.pem.certificate, read_pem(paths.certificate));
    PARETO_ASSIGN(loaded.pem.key, read_pem(paths.key));
    PARETO_ASSIGN(loaded.pem.authority, read_pem(paths.authority));
    loaded.expiry = std::chrono::sys_seconds::max();
    for (const Certificate& certificate : own) {
      loaded.expiry = std::min(loaded.expiry, time_of(X509_get0_notAfter(certificate.get())));
    }
    loaded.lists = trust.lists;
    if (before == nullptr) return loaded;
    PARETO_TRY(check_follows(*before, loaded));
    // Lists of authorities that are believed no more: they may come back.
    loaded.lists.insert(before->lists.begin(), before->lists.end());
    return loaded;
  }

  /// Checks that a process stays who it is, and that nobody who was taken back is let in again
  /// because a list is lost.
  Expected<> check_follows(const Loaded& before, const Loaded& now) const {
    if (now.identity != before.identity) {
      return fail(ErrorCode::kInvalidArgument,
                  "certificate: {} is that of {}, and this process is {}: start it again to be "
                  "another",
                  paths.certificate, to_string(now.identity), to_string(before.identity));
    }
    for (const auto& [authority, number] : before.lists) {
      const auto list = now.lists.find(authority);
      // An authority that is believed no more needs no list.
      if (!number || list == now.lists.end()) continue;
      if (!list->second) return no_list(now.lists);
      if (*list->second >= *number) continue;
      return fail(ErrorCode::kInvalidArgument,
                  "revoked certificates: {} is list {}, and list {} is in use: copy the newest "
                  "from the authority's folder",
                  paths.revoked, *list->second, *number);
    }
    return {};
  }

  tl::unexpected<Error> no_list(const ListNumbers& now) const {
    const bool gone =
        std::ranges::none_of(now, [](const auto& one) { return one.second.has_value(); });
    return fail(ErrorCode::kInvalidArgument,
                "revoked certificates: {} {}: copy it from the authority's folder again",
                paths.revoked, gone ? "is gone" : "lacks a list that is in use");
  }

  const Paths paths;
  WatchedFiles<Loaded> watched;
};

Credentials::Credentials(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Credentials::~Credentials() = default;

Expected<std::shared_ptr<Credentials>> Credentials::open(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder / kCertificateFile, error) &&
      error != std::errc::permission_denied) {
    return fail(
        ErrorCode::kNotFound,
        "credentials: {} holds no {}: on a device paretod enroll makes it, for a coordinator "
        "paretoctl pki init does",
        folder.string(), kCertificateFile);
  }
  std::shared_ptr<Credentials> credentials(new Credentials(std::make_unique<Impl>(folder)));
  PARETO_TRY(with_context(credentials->refresh(), "credentials"));
  return credentials;
}

Expected<bool> Credentials::refresh() {
  return impl_->watched.refresh([this] { return impl_->read(impl_->watched.in_use().get()); });
}

std::filesystem::path Credentials::folder() const {
  return std::filesystem::path(impl_->paths.certificate).parent_path();
}
Identity Credentials::identity() const { return impl_->watched.in_use()->identity; }
std::shared_ptr<SSL_CTX> Credentials::context() const { return impl_->watched.in_use()->context; }
PemTexts Credentials::pem() const { return impl_->watched.in_use()->pem; }
std::chrono::sys_seconds Credentials::expiry() const { return impl_->watched.in_use()->expiry; }

Expected<Identity> Credentials::peer_of(ssl_st& connection) {
  X509* const certificate = SSL_get0_peer_certificate(&connection);
  if (certificate == nullptr) return fail(ErrorCode::kPermission, "the peer shows no certificate");
  return identity_of(*certificate);
}

std::string Credentials::chain_of(ssl_st& connection) {
  X509* const certificate = SSL_get0_peer_certificate(&connection);
  if (certificate == nullptr) return "";
  std::string chain = to_pem(*certificate);
  const STACK_OF(X509)* const all = SSL_get_peer_cert_chain(&connection);
  // A server's own is the first of its chain; a client's is not in it.
  for (int i = SSL_is_server(&connection) == 1 ? 0 : 1; i < sk_X509_num(all); ++i) {
    chain += to_pem(*sk_X509_value(all, i));
  }
  return chain;
}

namespace {

/// Judges the first certificate of a chain by a context's store.
Expected<Identity> judge_by(SSL_CTX& context, const std::string& chain_pem,
                            X509_STORE_CTX_verify_cb callback) {
  std::vector<Certificate> chain;
  const Bio pem = text_bio(chain_pem);
  while (Certificate next{PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr)}) {
    chain.push_back(std::move(next));
  }
  ERR_clear_error();
  if (chain.empty()) return fail(ErrorCode::kPermission, "the peer shows no certificate");
  const std::string reason = reason_against(*SSL_CTX_get_cert_store(&context), chain, callback);
  if (!reason.empty()) {
    return fail(ErrorCode::kPermission, "the peer's certificate does not hold: {}", reason);
  }
  return identity_of(*chain.front());
}

}  // namespace

Expected<Identity> Credentials::judge(const std::string& chain_pem) const {
  return judge_by(*context(), chain_pem, verify_as_said);
}

Expected<Identity> Credentials::judge_again(const std::string& chain_pem) const {
  return judge_by(*context(), chain_pem, verify_undated);
}

std::vector<std::string> Credentials::warnings() const {
  std::vector<std::string> warnings;
  const std::chrono::sys_seconds expires = expiry();
  // In seconds: nanoseconds do not reach the year 9999, which certificates may name.
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (expires <= now) {
    warnings.push_back(
        fmt::format("certificate {} has expired ({}): peers refuse it until it is renewed",
                    impl_->paths.certificate, utc_text(expires)));
  } else if (expires <= now + kRenewWithin) {
    warnings.push_back(
        fmt::format("certificate {} expires soon ({}): paretoctl pki renew makes another",
                    impl_->paths.certificate, utc_text(expires)));
  }
  if (all_may_read(impl_->paths.key)) {
    warnings.push_back(
        fmt::format("key {} may be read by every user: chmod o-r", impl_->paths.key));
  }
  return warnings;
}

}  // namespace pareto::tls
