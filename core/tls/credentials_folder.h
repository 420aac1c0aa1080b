// New credentials: a key made here, what an authority signed for it, and the folder that gets both.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/tls/credentials.h"

namespace pareto::tls {

/// A new key and the request for its certificate.
struct KeyRequest {
  std::string key;      ///< PEM, without a passphrase
  std::string request;  ///< DER
};
KeyRequest make_key_request();

/// The PEM texts of a folder of credentials.
struct CredentialsTexts : PemTexts {
  std::string revoked;
};
/// Makes the texts of what came in DER. Fails: kInvalidArgument (no certificate, no list).
Expected<CredentialsTexts> credentials_texts(std::string key, std::string_view certificate,
                                             std::string_view authority, std::string_view revoked);

/// A folder of credentials that is being made: next to its place, and put there whole. What was
/// there stays in use until then. Owner, group and mode of an existing folder are kept: the key can
/// be read by its group if the folder can.
///
/// Threads: one owner. Without commit() nothing is left of it.
class NewCredentials {
 public:
  /// Begins, so that what cannot be written fails before anybody signs anything. Folders above are
  /// made. Fails: kPermission, kExhausted, kInvalidArgument (the folder holds other files, or is no
  /// folder).
  static Expected<NewCredentials> begin(const std::filesystem::path& folder);
  ~NewCredentials();
  NewCredentials(NewCredentials&&) noexcept;
  NewCredentials& operator=(NewCredentials&&) = delete;

  /// Writes the files and opens them as Credentials::open() does. Returns who they are of. Fails:
  /// as that.
  Expected<Identity> write(const CredentialsTexts& texts);
  /// Puts the folder into its place. Fails: kPermission, kExhausted.
  Expected<> commit();

 private:
  struct Impl;
  explicit NewCredentials(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Returns "…/pareto-edge/credentials" below $XDG_CONFIG_HOME or ~/.config: a coordinator's own.
/// `leaf`: another name in the place of "credentials". Arguments: of the environment; null: unset.
std::filesystem::path user_folder(std::string_view leaf, const char* config_home, const char* home);
/// Returns the same by the environment of this process.
std::filesystem::path user_folder(std::string_view leaf);

}  // namespace pareto::tls
