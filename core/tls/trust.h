// Whom a process believes: authorities, without those that they took back. Private to core/tls: it
// includes OpenSSL's headers.
#pragma once

#include <openssl/x509_vfy.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/tls/pem.h"

namespace pareto::tls {

using Store = std::unique_ptr<X509_STORE, FreedBy<X509_STORE_free>>;

/// Numbers of the lists of those taken back, by the keys of the authorities; no value: an authority
/// has none.
using ListNumbers = std::map<Digest, std::optional<std::int64_t>>;

/// Names of two files; the second need not be there.
struct TrustFiles {
  std::string authority, revoked;
};

struct Trust {
  Store store;
  ListNumbers lists{};
};

/// Reads authorities and their lists. Fails: kInvalidArgument (a list that none of them has signed,
/// two lists of one, a broken file), kPermission.
Expected<Trust> read_trust(const TrustFiles& files);

/// Goes on past an old list of those taken back, and past an authority without a list.
int verify_as_said(int verified, X509_STORE_CTX* context);
/// Goes on past what verify_as_said() does, and past dates.
int verify_undated(int verified, X509_STORE_CTX* context);
/// Verifies the first of `chain` against a store. Returns the reason why not; "" if it holds.
std::string reason_against(X509_STORE& store, const std::vector<Certificate>& chain,
                           X509_STORE_CTX_verify_cb callback);

}  // namespace pareto::tls
