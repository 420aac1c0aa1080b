#include "tests/support/tls.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <asio.hpp>
#include <asio/ssl.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/base/file.h"
#include "core/tls/credentials.h"

namespace pareto::test {
namespace {

using asio::ip::tcp;
using Key = std::shared_ptr<EVP_PKEY>;
using Certificate = std::shared_ptr<X509>;

Key make_key() { return {EVP_EC_gen("P-256"), EVP_PKEY_free}; }

void add_extension(X509& certificate, int nid, const char* value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value);
  X509_add_ext(&certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

/// issuer: null signs itself. names: "IP:127.0.0.1", "DNS:pi-1.device.pareto-edge,DNS:…".
Certificate make_certificate(const std::string& name, EVP_PKEY& key, const Validity& validity,
                             X509* issuer, EVP_PKEY& issuer_key,
                             const std::string& names = "IP:127.0.0.1") {
  Certificate certificate(X509_new(), X509_free);
  X509* const raw = certificate.get();
  std::uint64_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial);
  X509_set_version(raw, X509_VERSION_3);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(raw), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(raw), validity.begins.count());
  X509_gmtime_adj(X509_getm_notAfter(raw), validity.ends.count());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(raw), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(raw, X509_get_subject_name(issuer == nullptr ? raw : issuer));
  X509_set_pubkey(raw, &key);
  if (issuer == nullptr) {
    add_extension(*raw, NID_basic_constraints, "critical,CA:TRUE");
  } else {
    add_extension(*raw, NID_subject_alt_name, names.c_str());
  }
  if (X509_sign(raw, &issuer_key, EVP_sha256()) == 0) throw std::runtime_error("X509_sign");
  return certificate;
}

/// Returns what OpenSSL writes.
template <typename Write>
std::string pem(const Write& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  if (write(bio.get()) != 1) throw std::runtime_error("PEM");
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

void write(const std::string& path, const std::string& text) {
  if (const auto written = write_file_atomically(path, text); !written) {
    throw std::runtime_error(written.error().message);
  }
}

std::string to_pem(X509* certificate) {
  return pem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

}  // namespace

struct TestAuthority::Impl {
  std::vector<std::string> revoked;  // serials, in hexadecimal
  std::filesystem::path folder;
  std::string path;
  Key key;
  Certificate certificate;
};

TestAuthority::TestAuthority(std::filesystem::path folder, const std::string& name)
    : impl_(std::make_unique<Impl>()) {
  impl_->path = folder / (name + ".pem");
  impl_->folder = std::move(folder);
  impl_->key = make_key();
  impl_->certificate = make_certificate(name, *impl_->key, {}, nullptr, *impl_->key);
  write(impl_->path, to_pem(impl_->certificate.get()));
}

TestAuthority::~TestAuthority() = default;

const std::string& TestAuthority::certificate() const { return impl_->path; }

tls::CertificateFiles TestAuthority::issue(const std::string& name, const Validity& validity,
                                           const std::string& passphrase) const {
  tls::CertificateFiles files{impl_->folder / (name + ".pem"), impl_->folder / (name + ".key"), ""};
  const Key key = make_key();
  const Certificate certificate =
      make_certificate(name, *key, validity, impl_->certificate.get(), *impl_->key);
  const std::string text = pem([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key.get(),
                                    passphrase.empty() ? nullptr : EVP_aes_128_cbc(),
                                    reinterpret_cast<const unsigned char*>(passphrase.data()),
                                    static_cast<int>(passphrase.size()), nullptr, nullptr);
  });
  write(files.key, text);
  std::filesystem::permissions(files.key, std::filesystem::perms::owner_read);
  write(files.certificate, to_pem(certificate.get()));
  return files;
}

std::filesystem::path TestAuthority::credentials(const tls::Identity& identity,
                                                 const Validity& validity) const {
  std::filesystem::path folder =
      impl_->folder / fmt::format("{}-{}", identity.name, to_string(identity.role));
  std::filesystem::create_directories(folder);
  const Key key = make_key();
  const Certificate certificate =
      make_certificate(identity.name, *key, validity, impl_->certificate.get(), *impl_->key,
                       fmt::format("DNS:{},DNS:{}", dns_name(identity), dns_name(identity.role)));
  write(folder / tls::kKeyFile, pem([&](BIO* bio) {
          return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
        }));
  std::filesystem::permissions(folder / tls::kKeyFile, std::filesystem::perms::owner_read |
                                                           std::filesystem::perms::owner_write);
  write(folder / tls::kCertificateFile, to_pem(certificate.get()));
  write(folder / tls::kAuthorityFile, to_pem(impl_->certificate.get()));
  return folder;
}

void TestAuthority::revoke(const std::filesystem::path& credentials) {
  const std::string text = *read_file(credentials / tls::kCertificateFile, 1 << 20);
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free);
  const Certificate certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr), X509_free);
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> number(
      ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate.get()), nullptr), BN_free);
  char* const serial = BN_bn2hex(number.get());
  impl_->revoked.emplace_back(serial);
  OPENSSL_free(serial);
}

std::string TestAuthority::revocation(const Validity& validity) const {
  const std::unique_ptr<X509_CRL, decltype(&X509_CRL_free)> list(X509_CRL_new(), X509_CRL_free);
  X509_CRL_set_version(list.get(), 1);
  X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(impl_->certificate.get()));
  ASN1_TIME* const begin = X509_gmtime_adj(nullptr, validity.begins.count());
  ASN1_TIME* const end = X509_gmtime_adj(nullptr, validity.ends.count());
  X509_CRL_set1_lastUpdate(list.get(), begin);
  X509_CRL_set1_nextUpdate(list.get(), end);
  for (const std::string& serial : impl_->revoked) {
    BIGNUM* number = nullptr;
    BN_hex2bn(&number, serial.c_str());
    ASN1_INTEGER* const integer = BN_to_ASN1_INTEGER(number, nullptr);
    X509_REVOKED* const entry = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(entry, integer);
    X509_REVOKED_set_revocationDate(entry, begin);
    X509_CRL_add0_revoked(list.get(), entry);
    ASN1_INTEGER_free(integer);
    BN_free(number);
  }
  ASN1_TIME_free(begin);
  ASN1_TIME_free(end);
  ASN1_INTEGER* const number = ASN1_INTEGER_new();
  ASN1_INTEGER_set(number, static_cast<long>(impl_->revoked.size()));
  X509_CRL_add1_ext_i2d(list.get(), NID_crl_number, number, 0, 0);
  ASN1_INTEGER_free(number);
  X509_CRL_sort(list.get());
  if (X509_CRL_sign(list.get(), impl_->key.get(), EVP_sha256()) == 0) {
    throw std::runtime_error("X509_CRL_sign");
  }
  return pem([&](BIO* bio) { return PEM_write_bio_X509_CRL(bio, list.get()); });
}

HttpResult say_over_tls(const std::string& address, std::string_view bytes,
                        const TlsClient& client) {
  try {
    asio::ssl::context tls(asio::ssl::context::tls_client);
    tls.set_verify_mode(asio::ssl::verify_peer);
    tls.set_verify_callback(asio::ssl::host_name_verification(client.server));
    tls.load_verify_file(client.authority);
    if (!client.own.certificate.empty()) {
      tls.use_certificate_chain_file(client.own.certificate);
      tls.use_private_key_file(client.own.key, asio::ssl::context::pem);
    }
    // Else it is this side that refuses what is old.
    SSL_CTX_set_min_proto_version(tls.native_handle(), 0);
    SSL_CTX_set_max_proto_version(tls.native_handle(), client.newest_version);
    SSL_CTX_set_security_level(tls.native_handle(), 0);
    asio::io_context context;
    asio::ssl::stream<tcp::socket> stream(context, tls);
    const int port = std::stoi(address.substr(address.rfind(':') + 1));
    stream.next_layer().connect(
        {asio::ip::address_v4::loopback(), static_cast<asio::ip::port_type>(port)});
    stream.handshake(asio::ssl::stream_base::client);
    asio::write(stream, asio::buffer(bytes));
    std::string answer;
    std::error_code error;
    asio::read(stream, asio::dynamic_buffer(answer), error);
    if (error != asio::error::eof) throw std::system_error(error);
    return parse_http(answer);
  } catch (const std::exception& error) {
    return {0, "", error.what()};
  }
}

HttpResult https_get(const std::string& address, const std::string& path, const TlsClient& client) {
  return say_over_tls(address, "GET " + path + " HTTP/1.0\r\nHost: " + address + "\r\n\r\n",
                      client);
}

}  // namespace pareto::test
