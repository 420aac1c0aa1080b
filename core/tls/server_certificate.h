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
#include "core/tls/server_tls.h"

namespace pareto::tls {

/// Paths of PEM files; all empty: no TLS.
struct CertificateFiles {
  std::string certificate;  ///< the server's own first, then those between it and its root
  std::string key;          ///< key of the first, without a passphrase
  std::string client_ca;    ///< one of these has to have signed a client's; "": nobody is asked

  /// Checks that the files named are enough for a server. Fails: kInvalidArgument (one is named
  /// without another that it needs).
  Expected<> check() const;
};

/// TLS 1.2 and 1.3; no session outlives its connection. Any client may come whom one of the named
/// authorities has signed.
///
/// Threads: any.
class ServerCertificate final : public ServerTls {
 public:
  /// Loads a certificate; null if no file is named. The message of an error names the file and the
  /// remedy.
  /// Fails: kInvalidArgument (no such file, no PEM, a key that belongs elsewhere or has a
  /// passphrase, what OpenSSL finds too weak), kPermission.
  static Expected<std::shared_ptr<ServerCertificate>> load(const CertificateFiles& files);
  ~ServerCertificate() override;
  ServerCertificate(const ServerCertificate&) = delete;
  ServerCertificate& operator=(const ServerCertificate&) = delete;

  /// Loads the files again if one has changed. Returns whether it did. Fails: as load.
  Expected<bool> refresh() override;
  std::shared_ptr<ssl_ctx_st> context() const override;
  Expected<> admit(ssl_st& /*connection*/) const override { return {}; }
  std::chrono::sys_seconds expiry() const override;
  /// Returns what is in use although somebody should look at it: an expired certificate, a key that
  /// every user may read.
  std::vector<std::string> warnings() const override;

 private:
  struct Impl;
  explicit ServerCertificate(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::tls
