// Keys, requests, certificates and lists of revoked ones, as OpenSSL makes them; no file. Private
// to core/tls: it includes OpenSSL's headers.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/tls/pem.h"

namespace pareto::tls {

using Request = std::unique_ptr<X509_REQ, FreedBy<X509_REQ_free>>;

/// Times between which something is valid.
struct Validity {
  std::chrono::sys_seconds from;
  std::chrono::sys_seconds until;
};

/// Values of a certificate that an authority signs. DNS names hold letters, digits, hyphens and
/// dots only.
struct CertificateTerms {
  std::string subject;                 ///< common name, for people
  std::vector<std::string> dns_names;  ///< the names that it vouches for
  std::string extended_usage;          ///< "serverAuth,clientAuth"
  Validity validity;
  std::string serial;  ///< hexadecimal digits
};

/// Makes a key: ECDSA, P-256.
Key make_key();
/// Returns 128 random bits as 32 hexadecimal digits, the first no zero.
std::string make_serial();
/// Returns the digest of a public key: the same key has the same, in whatever certificate.
Digest key_digest(EVP_PKEY& key);
/// Returns the digest of a certificate, as `openssl x509 -fingerprint -sha256` shows it.
Digest certificate_digest(X509& certificate);

/// Makes a request that proves that its maker has the key. It names nobody.
Request make_request(EVP_PKEY& key);
/// Reads a request of at most kLongestRequestBytes and checks its key and the proof. Fails:
/// kInvalidArgument (no request, a key of a kind that is not taken, a wrong proof).
Expected<Request> read_request(std::string_view der);

/// Makes the certificate of an authority, which signs itself. It may sign names below pareto-edge
/// only.
Certificate make_authority_certificate(EVP_PKEY& key, const std::string& name,
                                       const Validity& validity);
Certificate sign_certificate(EVP_PKEY& subject_key, const CertificateTerms& terms, X509& authority,
                             EVP_PKEY& authority_key);

/// A certificate that its authority takes back.
struct RevokedSerial {
  std::string serial;
  std::chrono::sys_seconds since;
};
/// Signs the list of those taken back. number: larger than that of the list before.
RevocationList sign_revocation_list(std::span<const RevokedSerial> revoked, std::int64_t number,
                                    const Validity& validity, X509& authority,
                                    EVP_PKEY& authority_key);

// Texts of these in PEM, and bytes in DER.
std::string to_pem(X509& certificate);
std::string to_pem(X509_CRL& list);
std::string to_pem(EVP_PKEY& key);
std::string to_der(X509& certificate);
std::string to_der(X509_CRL& list);
std::string to_der(X509_REQ& request);

/// These read the whole of the bytes. Fails: kInvalidArgument.
Expected<Certificate> certificate_of(std::string_view der);
Expected<RevocationList> revocation_list_of(std::string_view der);

}  // namespace pareto::tls
