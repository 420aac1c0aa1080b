#include "core/tls/signing.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>
#include <new>

#include "core/base/text.h"
#include "core/tls/enrolment.h"

namespace pareto::tls {
namespace {

constexpr int kLeastRsaBits = 2048;
constexpr int kMostRsaBits = 4096;

using Extension = std::unique_ptr<X509_EXTENSION, FreedBy<X509_EXTENSION_free>>;
using Integer = std::unique_ptr<ASN1_INTEGER, FreedBy<ASN1_INTEGER_free>>;
using Number = std::unique_ptr<BIGNUM, FreedBy<BN_free>>;
using Time = std::unique_ptr<ASN1_TIME, FreedBy<ASN1_TIME_free>>;

/// Passes what OpenSSL returns for values of ours: it fails only if there is no memory.
template <typename T>
T made(T result) {
  if (result) return result;
  ERR_clear_error();
  throw std::bad_alloc();
}

Time time_from(std::chrono::sys_seconds time) {
  return Time(made(ASN1_TIME_set(nullptr, time.time_since_epoch().count())));
}

Integer integer_from(const std::string& hex) {
  BIGNUM* raw = nullptr;
  made(BN_hex2bn(&raw, hex.c_str()));
  const Number number(raw);
  return Integer(made(BN_to_ASN1_INTEGER(number.get(), nullptr)));
}

void add_extension(X509& certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, issuer == nullptr ? &certificate : issuer, &certificate, nullptr,
                 nullptr, 0);
  const Extension extension(made(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str())));
  made(X509_add_ext(&certificate, extension.get(), -1));
}

/// Fills in what every certificate has.
Certificate begin_certificate(EVP_PKEY& key, const std::string& subject, const std::string& serial,
                              const Validity& validity) {
  Certificate certificate(made(X509_new()));
  X509* const raw = certificate.get();
  made(X509_set_version(raw, X509_VERSION_3));
  made(X509_set_serialNumber(raw, integer_from(serial).get()));
  made(X509_set1_notBefore(raw, time_from(validity.from).get()));
  made(X509_set1_notAfter(raw, time_from(validity.until).get()));
  // A common name has at most 64 characters.
  constexpr std::size_t kLongestSubject = 64;
  const std::string shown = subject.substr(0, kLongestSubject);
  made(X509_NAME_add_entry_by_txt(X509_get_subject_name(raw), "CN", MBSTRING_UTF8,
                                  reinterpret_cast<const unsigned char*>(shown.c_str()), -1, -1,
                                  0));
  made(X509_set_pubkey(raw, &key));
  return certificate;
}

template <typename Write>
std::string pem_text(const Write& write) {
  const Bio bio(made(BIO_new(BIO_s_mem())));
  made(write(bio.get()));
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

template <typename T, typename Write>
std::string der_bytes(T& object, const Write& write) {
  unsigned char* raw = nullptr;
  const int size = write(&object, &raw);
  made(size > 0);
  std::string bytes(reinterpret_cast<const char*>(raw), static_cast<std::size_t>(size));
  OPENSSL_free(raw);
  return bytes;
}

/// Reads an object that takes all of the bytes; null if they are none.
template <typename Owner, typename Read>
Owner from_der(std::string_view der, const Read& read) {
  ERR_clear_error();
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const auto* const end = at + der.size();
  Owner object(read(nullptr, &at, static_cast<long>(der.size())));
  ERR_clear_error();
  return at == end ? std::move(object) : nullptr;
}

Expected<> check_key(EVP_PKEY& key) {
  if (EVP_PKEY_is_a(&key, "RSA") == 1) {
    const int bits = EVP_PKEY_get_bits(&key);
    if (bits >= kLeastRsaBits && bits <= kMostRsaBits) return {};
    return fail(
        ErrorCode::kInvalidArgument,
        "its RSA key has {} bits: {} to {} are taken (openssl genpkey -algorithm EC -pkeyopt "
        "ec_paramgen_curve:P-256 makes a better one)",
        bits, kLeastRsaBits, kMostRsaBits);
  }
  std::array<char, 32> curve{};
  std::size_t length = 0;
  if (EVP_PKEY_is_a(&key, "EC") == 1 &&
      EVP_PKEY_get_group_name(&key, curve.data(), curve.size(), &length) == 1) {
    const std::string_view name(curve.data(), length);
    if (name == "prime256v1" || name == "secp384r1") return {};
  }
  ERR_clear_error();
  return fail(ErrorCode::kInvalidArgument,
              "its key is of a kind that is not taken: ECDSA with P-256 or P-384 and RSA are");
}

}  // namespace

Key make_key() { return Key(made(EVP_EC_gen("P-256"))); }

std::string make_serial() {
  constexpr std::size_t kBytes = 16;
  std::array<unsigned char, kBytes> bytes{};
  do {
    made(RAND_bytes(bytes.data(), kBytes) == 1);
  } while (bytes[0] < 0x10);
  std::string hex;
  for (const unsigned char byte : bytes) hex += fmt::format("{:02x}", byte);
  return hex;
}

Digest key_digest(EVP_PKEY& key) {
  return sha256(
      der_bytes(key, [](EVP_PKEY* one, unsigned char** out) { return i2d_PUBKEY(one, out); }));
}

Digest certificate_digest(X509& certificate) { return sha256(to_der(certificate)); }

Request make_request(EVP_PKEY& key) {
  Request request(made(X509_REQ_new()));
  made(X509_REQ_set_version(request.get(), X509_REQ_VERSION_1));
  made(X509_REQ_set_pubkey(request.get(), &key));
  made(X509_REQ_sign(request.get(), &key, EVP_sha256()));
  return request;
}

Expected<Request> read_request(std::string_view der) {
  if (der.size() > kLongestRequestBytes) {
    return fail(ErrorCode::kInvalidArgument, "a request of {} bytes: at most {} are read",
                der.size(), kLongestRequestBytes);
  }
  auto request = from_der<Request>(der, d2i_X509_REQ);
  if (!request) {
    return fail(ErrorCode::kInvalidArgument,
                "no certificate request (openssl req -new -key FILE writes one)");
  }
  EVP_PKEY* const key = X509_REQ_get0_pubkey(request.get());
  ERR_clear_error();
  if (key == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "the certificate request has no key that can be read");
  }
  PARETO_TRY(with_context(check_key(*key), "the certificate request"));
  const bool proved = X509_REQ_verify(request.get(), key) == 1;
  ERR_clear_error();
  if (!proved) {
    return fail(
        ErrorCode::kInvalidArgument,
        "the certificate request is not signed with its own key: it was changed, or copied");
  }
  return request;
}

Certificate make_authority_certificate(EVP_PKEY& key, const std::string& name,
                                       const Validity& validity) {
  Certificate certificate = begin_certificate(key, name, make_serial(), validity);
  X509* const raw = certificate.get();
  made(X509_set_issuer_name(raw, X509_get_subject_name(raw)));
  add_extension(*raw, nullptr, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(*raw, nullptr, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(*raw, nullptr, NID_name_constraints, "critical,permitted;DNS:pareto-edge");
  add_extension(*raw, nullptr, NID_subject_key_identifier, "hash");
  made(X509_sign(raw, &key, EVP_sha256()));
  return certificate;
}

Certificate sign_certificate(EVP_PKEY& subject_key, const CertificateTerms& terms, X509& authority,
                             EVP_PKEY& authority_key) {
  Certificate certificate =
      begin_certificate(subject_key, terms.subject, terms.serial, terms.validity);
  X509* const raw = certificate.get();
  made(X509_set_issuer_name(raw, X509_get_subject_name(&authority)));
  std::vector<std::string> names;
  for (const std::string& name : terms.dns_names) names.push_back("DNS:" + name);
  add_extension(*raw, &authority, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(*raw, &authority, NID_key_usage, "critical,digitalSignature");
  add_extension(*raw, &authority, NID_ext_key_usage, terms.extended_usage);
  add_extension(*raw, &authority, NID_subject_alt_name, join(names, ","));
  add_extension(*raw, &authority, NID_subject_key_identifier, "hash");
  add_extension(*raw, &authority, NID_authority_key_identifier, "keyid:always");
  made(X509_sign(raw, &authority_key, EVP_sha256()));
  return certificate;
}

RevocationList sign_revocation_list(std::span<const RevokedSerial> revoked, std::int64_t number,
                                    const Validity& validity, X509& authority,
                                    EVP_PKEY& authority_key) {
  RevocationList list(made(X509_CRL_new()));
  X509_CRL* const raw = list.get();
  made(X509_CRL_set_version(raw, X509_CRL_VERSION_2));
  made(X509_CRL_set_issuer_name(raw, X509_get_subject_name(&authority)));
  made(X509_CRL_set1_lastUpdate(raw, time_from(validity.from).get()));
  made(X509_CRL_set1_nextUpdate(raw, time_from(validity.until).get()));
  for (const RevokedSerial& one : revoked) {
    std::unique_ptr<X509_REVOKED, FreedBy<X509_REVOKED_free>> entry(made(X509_REVOKED_new()));
    made(X509_REVOKED_set_serialNumber(entry.get(), integer_from(one.serial).get()));
    made(X509_REVOKED_set_revocationDate(entry.get(), time_from(one.since).get()));
    made(X509_CRL_add0_revoked(raw, entry.get()));
    static_cast<void>(entry.release());
  }
  made(X509_CRL_sort(raw));
  const Integer counted(made(ASN1_INTEGER_new()));
  made(ASN1_INTEGER_set_int64(counted.get(), number));
  made(X509_CRL_add1_ext_i2d(raw, NID_crl_number, counted.get(), 0, 0));
  X509V3_CTX context{};
  X509V3_set_ctx(&context, &authority, nullptr, nullptr, raw, 0);
  const Extension issuer(
      made(X509V3_EXT_conf_nid(nullptr, &context, NID_authority_key_identifier, "keyid:always")));
  made(X509_CRL_add_ext(raw, issuer.get(), -1));
  made(X509_CRL_sign(raw, &authority_key, EVP_sha256()));
  return list;
}

std::string to_pem(X509& certificate) {
  return pem_text([&](BIO* bio) { return PEM_write_bio_X509(bio, &certificate); });
}
std::string to_pem(X509_CRL& list) {
  return pem_text([&](BIO* bio) { return PEM_write_bio_X509_CRL(bio, &list); });
}
std::string to_pem(EVP_PKEY& key) {
  return pem_text([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, &key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

std::string to_der(X509& certificate) {
  return der_bytes(certificate, [](X509* one, unsigned char** out) { return i2d_X509(one, out); });
}
std::string to_der(X509_CRL& list) {
  return der_bytes(list, [](X509_CRL* one, unsigned char** out) { return i2d_X509_CRL(one, out); });
}
std::string to_der(X509_REQ& request) {
  return der_bytes(request,
                   [](X509_REQ* one, unsigned char** out) { return i2d_X509_REQ(one, out); });
}

Expected<Certificate> certificate_of(std::string_view der) {
  if (auto certificate = from_der<Certificate>(der, d2i_X509)) return certificate;
  return fail(ErrorCode::kInvalidArgument, "{} bytes that are no certificate", der.size());
}

Expected<RevocationList> revocation_list_of(std::string_view der) {
  if (auto list = from_der<RevocationList>(der, d2i_X509_CRL)) return list;
  return fail(ErrorCode::kInvalidArgument, "{} bytes that are no list of revoked certificates",
              der.size());
}

}  // namespace pareto::tls
