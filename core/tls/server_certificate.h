// The certificate that a server shows, its key, and who may come: from PEM files, and again when
// they change.
//
//   PEM files --load, refresh--> context() --> each connection that a server takes over TLS
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace pareto::tls {

/// Paths of PEM files; all empty: no TLS.
struct CertificateFiles {
  std::string certificate;  ///< the server's own first, then those between it and its root
  std::string key;          ///< key of the first, without a passphrase
  std::string client_ca;    ///< one of these has to have signed a client's; "": nobody is asked

  /// Fails: kInvalidArgument (one is named without another that it needs).
  Expected<> check() const;
};

/// TLS 1.2 and 1.3; no session outlives its connection.
///
/// Threads: any.
class ServerCertificate {
 public:
  /// Loads a certificate; null if no file is named. The message of an error names the file and the
  /// remedy.
  /// Fails: kInvalidArgument (no such file, no PEM, a key that belongs elsewhere or has a
  /// passphrase, what OpenSSL finds too weak), kPermission.
  static Expected<std::shared_ptr<ServerCertificate>> load(const CertificateFiles& files);
  ~ServerCertificate();
  ServerCertificate(const ServerCertificate&) = delete;
  ServerCertificate& operator=(const ServerCertificate&) = delete;

  /// Reads the files where they are not those in use. True: what they hold is in use now. Fails: as
  /// load; what was in use stays so.
  Expected<bool> refresh();

  /// Returns the context for one connection, which keeps what it began with.
  std::shared_ptr<ssl_ctx_st> context() const;
  /// Returns when the first of the certificates shown expires.
  std::chrono::sys_seconds expiry() const;
  /// Returns what is in use although somebody should look at it: an expired certificate, a key that
  /// every user may read.
  std::vector<std::string> warnings() const;

 private:
  struct Impl;
  explicit ServerCertificate(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::tls
