#include "core/tls/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <cstdint>
#include <ctime>
#include <utility>

#include "core/base/file.h"

namespace pareto::tls {
namespace {

constexpr std::uint64_t kLimitBytes = std::uint64_t{4} << 20;  // a bundle of many authorities

/// Opens a file and its text, which `text` keeps.
Expected<Bio> open_pem(const std::string& path, std::string& text) {
  PARETO_ASSIGN(text, read_pem(path));
  return text_bio(text);
}

/// Reads all objects of a kind from a file, in its order. `kind`: "certificate". Fails:
/// kInvalidArgument (a broken one), and as open_pem().
template <typename Object, typename Read>
Expected<std::vector<Object>> read_each(const std::string& path, std::string_view kind, Read read) {
  std::string text;
  PARETO_ASSIGN(const Bio pem, open_pem(path, text));
  std::vector<Object> found;
  while (Object next{read(pem.get(), nullptr, nullptr, nullptr)}) found.push_back(std::move(next));
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) {
    return fail(ErrorCode::kInvalidArgument, "{}: {} {} in it is broken: {}", path, kind,
                found.size() + 1, openssl_reason());
  }
  ERR_clear_error();
  return found;
}

}  // namespace

std::string openssl_reason() {
  const char* const text = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return text == nullptr ? "unknown error" : text;
}

Expected<std::string> read_pem(const std::string& path) {
  auto content = read_regular_file(path, kLimitBytes);
  if (content) return content;
  Error& error = content.error();
  if (error.code == ErrorCode::kPermission) {
    error.message += " (the user that serves needs to read it: chgrp, chmod g+r)";
  } else {
    error.code = ErrorCode::kInvalidArgument;
  }
  return tl::unexpected(std::move(error));
}

Bio text_bio(const std::string& text) {
  ERR_clear_error();
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Expected<std::vector<Certificate>> read_certificates(const std::string& path) {
  PARETO_ASSIGN(auto certificates, read_each<Certificate>(path, "certificate", PEM_read_bio_X509));
  if (certificates.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: no certificate in it (PEM begins one with -----BEGIN CERTIFICATE-----; other "
                "forms are turned into it by openssl x509)",
                path);
  }
  return certificates;
}

Expected<Key> read_key(const std::string& path) {
  std::string text;
  PARETO_ASSIGN(const Bio pem, open_pem(path, text));
  bool locked = false;
  // OpenSSL's own would ask a terminal.
  const auto no_passphrase = [](char* /*buffer*/, int /*size*/, int /*writing*/, void* asked) {
    *static_cast<bool*>(asked) = true;
    return -1;
  };
  Key key(PEM_read_bio_PrivateKey(pem.get(), nullptr, no_passphrase, &locked));
  if (key) return key;
  const std::string why = openssl_reason();
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

Expected<std::vector<RevocationList>> read_revocation_lists(const std::string& path) {
  PARETO_ASSIGN(auto lists, read_each<RevocationList>(path, "list", PEM_read_bio_X509_CRL));
  if (lists.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: no list of revoked certificates in it (PEM begins one with -----BEGIN X509 "
                "CRL-----)",
                path);
  }
  return lists;
}

std::chrono::sys_seconds time_of(const ASN1_TIME* time) {
  std::tm parts{};
  ASN1_TIME_to_tm(time, &parts);
  return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&parts)));
}

bool all_may_read(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && (status.st_mode & S_IROTH) != 0;
}

}  // namespace pareto::tls
