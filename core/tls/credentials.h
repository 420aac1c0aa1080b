// What a process shows to others, and whom it believes: one folder of PEM files, read again when
// they change. Both ends of every connection use the same credentials: TLS is mutual.
//
//   folder --open, refresh--> Credentials --context--> TLS over tcp (core/transport/tcp)
//                                         --pem------> gRPC, control and links
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/tls/identity.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX
struct ssl_st;      // OpenSSL's SSL

namespace pareto::tls {

/// Names of the files in the folder of some credentials.
inline constexpr std::string_view kCertificateFile =
    "certificate.pem";                                               ///< own first, then issuers
inline constexpr std::string_view kKeyFile = "key.pem";              ///< without a passphrase
inline constexpr std::string_view kAuthorityFile = "authority.pem";  ///< who is believed
/// List of certificates that the authority takes back (a CRL). It need not be there.
inline constexpr std::string_view kRevokedFile = "revoked.pem";

/// The texts of the files, for a library that wants them so.
struct PemTexts {
  std::string certificate;
  std::string key;
  std::string authority;
};

/// Credentials of this process. TLS 1.3 only; no session outlives its connection, so each peer is
/// judged each time. A list of those taken back holds also after its own time is over, because a
/// device that nobody brings a new one has to go on.
///
/// Threads: any.
class Credentials {
 public:
  /// Opens a folder. The message of an error names the file and the remedy. Fails: kNotFound (no
  /// such folder, or no certificate in it), kInvalidArgument (no PEM, a key that belongs elsewhere
  /// or has a passphrase, a certificate that the authority did not sign, that names no role or is
  /// too long for peers), kPermission.
  static Expected<std::shared_ptr<Credentials>> open(const std::filesystem::path& folder);
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  /// Reads the files if they are not those in use. True: what they hold is in use now. Fails: as
  /// open(), and kInvalidArgument (a certificate of somebody else; a list of those taken back that
  /// is gone, or older than the one in use). What was in use stays so.
  Expected<bool> refresh();

  /// Returns the folder that it was opened from.
  std::filesystem::path folder() const;
  /// Returns who this process is.
  Identity identity() const;
  /// Returns the context for one connection, of either side, which keeps what it began with. It
  /// demands a certificate of the peer and verifies it against authority and list.
  std::shared_ptr<ssl_ctx_st> context() const;
  PemTexts pem() const;

  /// Returns who is at the other end, after its handshake. Fails: kPermission.
  static Expected<Identity> peer_of(ssl_st& connection);
  /// Returns the certificates that the other end showed in its handshake, as PEM and its own first;
  /// "" if it showed none.
  static std::string chain_of(ssl_st& connection);
  /// Judges the certificate that a peer showed, with those between it and the authority behind it,
  /// as PEM. It is verified by what is in use now: a library does not know the list of those taken
  /// back, and a connection began with an older one. Fails: kPermission.
  Expected<Identity> judge(const std::string& chain_pem) const;
  /// Does the same for a peer that is connected, whatever the dates. Its handshake judged those,
  /// and it may have renewed its certificate since.
  Expected<Identity> judge_again(const std::string& chain_pem) const;

  /// Returns when the first of the certificates shown expires.
  std::chrono::sys_seconds expiry() const;
  /// Returns what is in use although somebody should look at it: a certificate that expires within
  /// 30 days or has expired, a key that others may read.
  std::vector<std::string> warnings() const;

 private:
  struct Impl;
  explicit Credentials(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::tls
