// Any bytes as a certificate, a key, a list of revoked ones, a request or an authority's index:
// refused, or read, written and read again as it was.
//
//   input = 0: issued.json, 1: certificates, 2: a key, 3: a list of revoked ones (PEM), 4: a
//   request, 5: a certificate, 6: a list of revoked ones (DER), 7: an identity, 8: DNS names, one a
//   line; then the bytes
#include <array>
#include <cstdint>
#include <string>

#include "core/base/printable.h"
#include "core/base/text.h"
#include "core/tls/identity.h"
#include "core/tls/issued.h"
#include "core/tls/pem.h"
#include "core/tls/signing.h"
#include "core/tls/utc_text.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/text.h"

namespace pareto {
namespace {

using fuzz::check;

void read_index(const std::string& text) {
  const auto index = tls::issued_index_from(text);
  if (!index) return;
  const std::string written = tls::to_json(*index);
  const auto again = tls::issued_index_from(written);
  check(again && tls::to_json(*again) == written);
  for (const tls::IssuedCertificate& one : index->certificates) {
    static_cast<void>(to_string(tls::state_of(*index, one, one.from)));
    static_cast<void>(tls::utc_text(one.until));
  }
}

void read_certificates(const std::string& text) {
  const fuzz::MemoryFile file(text.data(), text.size());
  const auto certificates = tls::read_certificates(file.path());
  if (!certificates) return;
  std::string written;
  for (const tls::Certificate& one : *certificates) {
    static_cast<void>(tls::utc_text(tls::time_of(X509_get0_notAfter(one.get()))));
    written += tls::to_pem(*one);
  }
  const fuzz::MemoryFile copy(written.data(), written.size());
  const auto again = tls::read_certificates(copy.path());
  check(again && again->size() == certificates->size());
}

void read_key(const std::string& text) {
  const fuzz::MemoryFile file(text.data(), text.size());
  static_cast<void>(tls::read_key(file.path()));
}

void read_list(const std::string& text) {
  const fuzz::MemoryFile file(text.data(), text.size());
  const auto lists = tls::read_revocation_lists(file.path());
  if (!lists) return;
  for (const tls::RevocationList& one : *lists) check(!tls::to_pem(*one).empty());
}

void read_request(const std::string& der) {
  const auto request = tls::read_request(der);
  if (!request) return check(is_printable(request.error().message));
  check(tls::read_request(tls::to_der(**request)).has_value());
}

void read_certificate(const std::string& der) {
  const auto certificate = tls::certificate_of(der);
  if (!certificate) return;
  check(tls::certificate_of(tls::to_der(**certificate)).has_value());
  static_cast<void>(tls::certificate_digest(**certificate));
}

void read_der_list(const std::string& der) {
  const auto list = tls::revocation_list_of(der);
  if (list) check(tls::revocation_list_of(tls::to_der(**list)).has_value());
}

void read_identity(const std::string& text) {
  const auto identity = tls::parse_identity(text);
  if (identity) check(tls::to_string(*identity) == text);
}

void read_names(const std::string& text) {
  const auto identity = tls::identity_among(split_list(text, '\n'));
  if (!identity) return;
  check(tls::valid_name(identity->name).has_value());
  const std::array own{tls::dns_name(*identity)};
  const auto again = tls::identity_among(own);
  check(again && *again == *identity);
}

constexpr std::array kCertificateReaders{read_index,    read_certificates, read_key,
                                         read_list,     read_request,      read_certificate,
                                         read_der_list, read_identity,     read_names};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  kCertificateReaders[data[0] % kCertificateReaders.size()](fuzz::text_of(data + 1, size - 1));
  return 0;
}

}  // namespace pareto
