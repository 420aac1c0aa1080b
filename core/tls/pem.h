// OpenSSL's objects, and reading them from PEM files. Private to core/tls: it includes OpenSSL's
// headers.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace pareto::tls {

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
using RevocationList = std::unique_ptr<X509_CRL, FreedBy<X509_CRL_free>>;

/// Returns what OpenSSL says of its last failure, which it forgets.
std::string openssl_reason();

/// Reads a PEM file. Fails: kInvalidArgument (it cannot be read), kPermission.
Expected<std::string> read_pem(const std::string& path);
/// Returns a reader of a text, which has to outlive it.
Bio text_bio(const std::string& text);

/// These read from a file; the message of an error begins with its path.
/// Fails: kInvalidArgument (nothing of the kind in it, a broken part, a key with a passphrase),
/// kPermission.
Expected<std::vector<Certificate>> read_certificates(const std::string& path);
Expected<Key> read_key(const std::string& path);
/// Returns one list or several, as a file of several authorities holds them.
Expected<std::vector<RevocationList>> read_revocation_lists(const std::string& path);

std::chrono::sys_seconds time_of(const ASN1_TIME* time);
/// Returns whether users other than the file's owner and group may read it.
bool all_may_read(const std::string& path);

}  // namespace pareto::tls
