// A private authority: one folder that signs the certificates of devices, coordinators and
// observers, and knows what it signed (FORMAT.md). Who can read the folder can become anybody.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/tls/issued.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

namespace pareto::tls {

/// Returns the time of day; tests give their own.
using WallClock = std::function<std::chrono::sys_seconds()>;
WallClock system_wall_clock();

/// Life of a certificate unless somebody says another.
inline constexpr std::chrono::days kCertificateLife{90};
inline constexpr std::chrono::days kLongestLife{825};
inline constexpr std::chrono::days kAuthorityLife{3652};

/// The fate of valid certificates of the same name that have another key.
enum class OtherKeys {
  kRefuse,  ///< they are in use: nothing is signed
  kLeave,   ///< they stay valid until they expire: the device has got a new key
  kRevoke,  ///< they are taken back: the device, or its key, is lost
};

struct SigningTerms {
  std::chrono::seconds life = kCertificateLife;
  OtherKeys others = OtherKeys::kRefuse;
};

struct SignedCertificate {
  IssuedCertificate record;
  std::string certificate;  ///< DER
};

/// The authority in one folder: its key signs certificates, and its index knows each of them.
///
/// Threads: any. Processes: each call that signs or revokes has the folder's lock while it lasts.
class Authority {
 public:
  /// Makes an authority in a new folder, or an empty one, which others cannot enter from then on.
  /// Fails: kInvalidArgument (there is one already, or other files), kPermission (also another
  /// user's folder), kExhausted.
  static Expected<std::unique_ptr<Authority>> create(const std::filesystem::path& folder,
                                                     const std::string& name,
                                                     WallClock clock = system_wall_clock());
  /// Opens the authority in a folder. Fails: kNotFound (there is none), kInvalidArgument (its files
  /// are damaged, or it has expired), kPermission.
  static Expected<std::unique_ptr<Authority>> open(const std::filesystem::path& folder,
                                                   WallClock clock = system_wall_clock());
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  const std::filesystem::path& folder() const;
  /// Returns its certificate in PEM and DER, and the digest by which devices know it.
  std::string certificate_pem() const;
  std::string certificate_der() const;
  Digest fingerprint() const;
  std::chrono::sys_seconds expiry() const;

  /// Checks whether sign() would refuse an identity for the keys that have it. Fails:
  /// kInvalidArgument (in use), kCorrupt (the index is damaged), kPermission, kUnavailable.
  Expected<> check_free(const Identity& identity) const;
  /// Signs the key of a request, DER or PEM, as `identity`. Whatever else the request asks is
  /// ignored. The certificate is in the index before anybody gets it. Fails: kInvalidArgument (no
  /// request, a bad name, a name in use by another key, a life that is too long), kCorrupt (the
  /// index is damaged), kPermission, kExhausted, kUnavailable (another process has the folder).
  Expected<SignedCertificate> sign(std::string_view request, const Identity& identity,
                                   const SigningTerms& terms);
  /// Takes back all certificates of an identity that have not expired, and signs the list again.
  /// Returns them; those that were taken back before are among them. Fails: kNotFound (it has
  /// none), and as sign().
  Expected<std::vector<IssuedCertificate>> revoke(const Identity& identity);

  /// Returns what was issued. Fails: kCorrupt, kPermission.
  Expected<IssuedIndex> issued() const;
  /// Returns the list of what was taken back, in PEM or DER. It is there from the beginning, and
  /// valid as long as the authority. A certificate stays on it for a year after it
  /// expired. Fails: kInvalidArgument (damaged), kPermission.
  Expected<std::string> revoked_pem() const;
  Expected<std::string> revoked_der() const;
  /// Returns the file of that list.
  std::filesystem::path revoked_file() const;

  /// Returns the context of a server that enrols for at most `life`. Its certificate has a key of
  /// its own, which is nowhere kept, and names no role.
  std::shared_ptr<ssl_ctx_st> enrolment_context(std::chrono::seconds life) const;

 private:
  struct Impl;
  explicit Authority(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::tls
