// Certificates that a test makes up, and a client of HTTPS as small as can be.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "core/tls/identity.h"
#include "core/tls/server_certificate.h"
#include "tests/support/http.h"

namespace pareto::test {

/// The times from now at which a certificate is valid.
struct Validity {
  std::chrono::seconds begins = std::chrono::hours(-24);
  std::chrono::seconds ends = std::chrono::hours(24);
};

/// Signs certificates, for as long as the test runs. Threads: one owner.
class TestAuthority {
 public:
  /// Makes an authority. Its own certificate is FOLDER/NAME.pem.
  TestAuthority(std::filesystem::path folder, const std::string& name);
  ~TestAuthority();
  TestAuthority(const TestAuthority&) = delete;
  TestAuthority& operator=(const TestAuthority&) = delete;

  const std::string& certificate() const;
  /// FOLDER/NAME.pem and FOLDER/NAME.key in the place of what is there, for a server on 127.0.0.1
  /// or a client. A passphrase locks the key.
  tls::CertificateFiles issue(const std::string& name, const Validity& validity = {},
                              const std::string& passphrase = "") const;
  /// Returns a folder of credentials for an identity, made afresh: FOLDER/NAME-ROLE.
  std::filesystem::path credentials(const tls::Identity& identity,
                                    const Validity& validity = {}) const;
  /// Takes certificates of such folders back: from now on revocation() lists them.
  void revoke(const std::filesystem::path& credentials);
  /// Returns the list of those taken back, as PEM; it is due again after `validity`.
  std::string revocation(const Validity& validity = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct TlsClient {
  std::string authority;           ///< whom it believes: a PEM file
  tls::CertificateFiles own = {};  ///< certificate that it shows; nothing if that is empty
  int newest_version = 0;  ///< newest version as OpenSSL numbers them: TLS1_2_VERSION; 0: any
  std::string server = "127.0.0.1";  ///< name that the server's certificate has to hold
};

/// Gets the page as http_get() does; status 0 with the reason in `body` if there is no TLS with the
/// other side, or it ends without saying so.
HttpResult https_get(const std::string& address, const std::string& path, const TlsClient& client);
/// Returns the answer to any bytes, in the same way.
HttpResult say_over_tls(const std::string& address, std::string_view bytes,
                        const TlsClient& client);

}  // namespace pareto::test
