#include "core/tls/trust.h"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "core/tls/signing.h"

namespace pareto::tls {
namespace {

using StoreContext = std::unique_ptr<X509_STORE_CTX, FreedBy<X509_STORE_CTX_free>>;

Digest key_of(const Certificate& authority) {
  return key_digest(*X509_get0_pubkey(authority.get()));
}

/// Returns the number that the authority gave a list; 0 if it gave none.
std::int64_t number_of(const X509_CRL& list) {
  const std::unique_ptr<ASN1_INTEGER, FreedBy<ASN1_INTEGER_free>> number(
      static_cast<ASN1_INTEGER*>(X509_CRL_get_ext_d2i(&list, NID_crl_number, nullptr, nullptr)));
  std::int64_t value = 0;
  return number && ASN1_INTEGER_get_int64(&value, number.get()) == 1 ? value : 0;
}

/// Returns the authority that has signed a list. Fails: kInvalidArgument (none has).
Expected<const Certificate*> signer_of(X509_CRL& list, const std::vector<Certificate>& authorities,
                                       const TrustFiles& files) {
  const auto signer = std::ranges::find_if(authorities, [&](const Certificate& authority) {
    return X509_CRL_verify(&list, X509_get0_pubkey(authority.get())) == 1;
  });
  ERR_clear_error();
  if (signer != authorities.end()) return &*signer;
  return fail(ErrorCode::kInvalidArgument,
              "revoked certificates: {} is not signed by an authority in {}: copy it from the "
              "authority's folder again",
              files.revoked, files.authority);
}

/// Adds the lists of those taken back to a store, and returns their numbers. Fails:
/// kInvalidArgument (two of one authority), and as read_revocation_lists() and signer_of().
Expected<ListNumbers> add_lists(X509_STORE& store, const std::vector<Certificate>& authorities,
                                const TrustFiles& files) {
  PARETO_ASSIGN(const auto lists,
                with_context(read_revocation_lists(files.revoked), "revoked certificates"));
  ListNumbers numbers;
  for (const RevocationList& list : lists) {
    PARETO_ASSIGN(const Certificate* const signer, signer_of(*list, authorities, files));
    if (!numbers.emplace(key_of(*signer), number_of(*list)).second) {
      return fail(
          ErrorCode::kInvalidArgument,
          "revoked certificates: {} holds two lists of one authority: leave only the newest "
          "in it",
          files.revoked);
    }
    X509_STORE_add_crl(&store, list.get());
  }
  return numbers;
}

}  // namespace

int verify_as_said(int verified, X509_STORE_CTX* context) {
  switch (X509_STORE_CTX_get_error(context)) {
    case X509_V_ERR_CRL_HAS_EXPIRED:
    case X509_V_ERR_CRL_NOT_YET_VALID:
    case X509_V_ERR_UNABLE_TO_GET_CRL:
      X509_STORE_CTX_set_error(context, X509_V_OK);
      return 1;
    default:
      return verified;
  }
}

int verify_undated(int verified, X509_STORE_CTX* context) {
  switch (X509_STORE_CTX_get_error(context)) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      X509_STORE_CTX_set_error(context, X509_V_OK);
      return 1;
    default:
      return verify_as_said(verified, context);
  }
}

std::string reason_against(X509_STORE& store, const std::vector<Certificate>& chain,
                           X509_STORE_CTX_verify_cb callback) {
  const std::unique_ptr<STACK_OF(X509), FreedBy<[](STACK_OF(X509) * all) { sk_X509_free(all); }>>
      between(sk_X509_new_null());
  for (std::size_t i = 1; i < chain.size(); ++i) sk_X509_push(between.get(), chain[i].get());
  const StoreContext context(X509_STORE_CTX_new());
  if (!context ||
      X509_STORE_CTX_init(context.get(), &store, chain.front().get(), between.get()) != 1) {
    return openssl_reason();
  }
  X509_STORE_CTX_set_verify_cb(context.get(), callback);
  if (X509_verify_cert(context.get()) == 1) return "";
  ERR_clear_error();
  const int verdict = X509_STORE_CTX_get_error(context.get());
  const std::string reason = X509_verify_cert_error_string(verdict);
  return verdict == X509_V_ERR_CERT_REVOKED ? reason + ": its authority took it back" : reason;
}

Expected<Trust> read_trust(const TrustFiles& files) {
  PARETO_ASSIGN(const std::vector<Certificate> authorities,
                with_context(read_certificates(files.authority), "authority"));
  Trust trust{Store(X509_STORE_new())};
  unsigned long flags = X509_V_FLAG_PARTIAL_CHAIN;
  for (const Certificate& authority : authorities) {
    X509_STORE_add_cert(trust.store.get(), authority.get());
  }
  // A link that leads nowhere is there, and cannot be read.
  std::error_code unknown;
  const auto kind = std::filesystem::symlink_status(files.revoked, unknown).type();
  if (kind != std::filesystem::file_type::not_found) {
    PARETO_ASSIGN(trust.lists, add_lists(*trust.store, authorities, files));
    flags |= X509_V_FLAG_CRL_CHECK;
  }
  for (const Certificate& authority : authorities) {
    trust.lists.try_emplace(key_of(authority));
  }
  X509_STORE_set_flags(trust.store.get(), flags);
  return trust;
}

}  // namespace pareto::tls
