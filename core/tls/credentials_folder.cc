#include "core/tls/credentials_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "core/base/folder.h"
#include "core/tls/signing.h"

namespace pareto::tls {
namespace {

namespace fs = std::filesystem;

constexpr std::array kFiles{kCertificateFile, kKeyFile, kAuthorityFile, kRevokedFile};
constexpr ::mode_t kPrivateFolder = 0700;
constexpr ::mode_t kPrivateFile = 0600;
constexpr ::mode_t kGroupMayRead = 0040;
constexpr ::mode_t kShownFile = 0644;  // it is no secret; its folder may be one

Error errno_of(const fs::path& path) { return error_from_errno(errno, path.string()); }

/// Checks a folder that is to be replaced: nothing of anybody else's is in it.
Expected<> check_replaceable(const fs::path& folder) {
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(folder, problem)) {
    const std::string name = entry.path().filename().string();
    if (std::ranges::find(kFiles, name) != kFiles.end() && !entry.is_directory(problem)) continue;
    return fail(ErrorCode::kInvalidArgument,
                "{} holds other files too ({}): name a folder of its own for the credentials",
                folder.string(), name);
  }
  if (problem) return tl::unexpected(error_from_errno(problem.value(), folder.string()));
  return {};
}

/// Makes the folders above, which others may look into, as they may into /etc.
Expected<> make_parents(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder.parent_path(), problem);
  if (problem) {
    return tl::unexpected(error_from_errno(problem.value(), folder.parent_path().string()));
  }
  return {};
}

Expected<> write_with_mode(const fs::path& path, const std::string& text, ::mode_t mode) {
  const FileDescriptor made(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kPrivateFile));
  if (!made || ::fchmod(made.get(), mode) != 0) return tl::unexpected(errno_of(path));
  return write_file_atomically(path, text);
}

}  // namespace

KeyRequest make_key_request() {
  const Key key = make_key();
  return {to_pem(*key), to_der(*make_request(*key))};
}

Expected<CredentialsTexts> credentials_texts(std::string key, std::string_view certificate,
                                             std::string_view authority, std::string_view revoked) {
  PARETO_ASSIGN(const Certificate own, certificate_of(certificate));
  PARETO_ASSIGN(const Certificate issuer, certificate_of(authority));
  PARETO_ASSIGN(const RevocationList list, revocation_list_of(revoked));
  return CredentialsTexts{{to_pem(*own), std::move(key), to_pem(*issuer)}, to_pem(*list)};
}

struct NewCredentials::Impl {
  fs::path folder;  ///< its place
  fs::path made;    ///< next to it; "" once it is in its place
  ::mode_t mode = kPrivateFolder;
  bool exists = false;

  Expected<> take_owner(const struct stat& before) {
    mode = before.st_mode & 07777;
    struct stat now {};
    if (::stat(made.c_str(), &now) != 0) return tl::unexpected(errno_of(made));
    const bool differs = now.st_uid != before.st_uid || now.st_gid != before.st_gid;
    if (differs && ::chown(made.c_str(), before.st_uid, before.st_gid) != 0) {
      return tl::unexpected(errno_of(made));
    }
    return {};
  }

  /// Gives a new file the owner and group of the folder.
  Expected<> share(const fs::path& file) const {
    struct stat of {};
    if (::stat(made.c_str(), &of) != 0) return tl::unexpected(errno_of(made));
    struct stat now {};
    if (::stat(file.c_str(), &now) != 0) return tl::unexpected(errno_of(file));
    const bool differs = now.st_uid != of.st_uid || now.st_gid != of.st_gid;
    if (differs && ::chown(file.c_str(), of.st_uid, of.st_gid) != 0) {
      return tl::unexpected(errno_of(file));
    }
    return {};
  }

  /// Puts the files into a folder that cannot be replaced itself: it is a mount, or its file system
  /// cannot exchange two. The certificate comes last.
  Expected<> move_files() {
    for (const std::string_view name : {kRevokedFile, kAuthorityFile, kKeyFile, kCertificateFile}) {
      PARETO_ASSIGN(const std::string text, read_file(made / name));
      struct stat there {};
      const fs::path target = folder / name;
      if (::stat(target.c_str(), &there) != 0) {
        const ::mode_t wanted =
            name == kKeyFile ? kPrivateFile | (mode & kGroupMayRead) : kShownFile;
        PARETO_TRY(write_with_mode(target, text, wanted));
        continue;
      }
      PARETO_TRY(write_file_atomically(target, text));
    }
    return {};
  }

  /// Gives the new folder its place. One that was there comes to lie in its stead, to be removed.
  Expected<> put_in_place() {
    if (!exists) {
      if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, folder.c_str(), RENAME_NOREPLACE) != 0) {
        return tl::unexpected(errno_of(folder));
      }
      made.clear();
      return {};
    }
    // A mount cannot be renamed.
    if (exchange_folders(made, folder).value_or(false)) return {};
    return move_files();
  }

  void remove() {
    std::error_code ignored;
    if (!made.empty()) fs::remove_all(std::exchange(made, {}), ignored);
  }
};

NewCredentials::NewCredentials(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NewCredentials::NewCredentials(NewCredentials&&) noexcept = default;
NewCredentials::~NewCredentials() {
  if (impl_) impl_->remove();
}

Expected<NewCredentials> NewCredentials::begin(const fs::path& folder) {
  auto impl = std::make_unique<Impl>();
  std::error_code problem;
  // A link leads to it; a slash at its end does not count.
  // One that is not there yet stays relative without the first of the two calls.
  impl->folder = fs::weakly_canonical(fs::absolute(folder, problem), problem);
  if (problem) return tl::unexpected(error_from_errno(problem.value(), folder.string()));
  if (!impl->folder.has_filename()) impl->folder = impl->folder.parent_path();
  struct stat before {};
  impl->exists = ::stat(impl->folder.c_str(), &before) == 0;
  if (impl->exists && !S_ISDIR(before.st_mode)) {
    return fail(ErrorCode::kInvalidArgument, "{} is no folder", folder.string());
  }
  if (impl->exists) {
    PARETO_TRY(check_replaceable(impl->folder));
  } else {
    PARETO_TRY(make_parents(impl->folder));
  }
  std::string made = impl->folder.string() + ".new-XXXXXX";
  if (::mkdtemp(made.data()) == nullptr) {
    return tl::unexpected(errno_of(impl->folder));
  }
  impl->made = made;
  if (impl->exists) {
    if (auto taken = impl->take_owner(before); !taken) {
      impl->remove();
      return tl::unexpected(std::move(taken).error());
    }
  }
  return NewCredentials(std::move(impl));
}

Expected<Identity> NewCredentials::write(const CredentialsTexts& texts) {
  const ::mode_t key_mode = kPrivateFile | (impl_->mode & kGroupMayRead);
  const std::array<std::pair<std::string_view, const std::string*>, 4> files{
      {{kCertificateFile, &texts.certificate},
       {kKeyFile, &texts.key},
       {kAuthorityFile, &texts.authority},
       {kRevokedFile, &texts.revoked}}};
  for (const auto& [name, text] : files) {
    const fs::path path = impl_->made / name;
    PARETO_TRY(write_with_mode(path, *text, name == kKeyFile ? key_mode : kShownFile));
    PARETO_TRY(impl_->share(path));
  }
  PARETO_ASSIGN(const auto opened, Credentials::open(impl_->made));
  return opened->identity();
}

Expected<> NewCredentials::commit() {
  if (::chmod(impl_->made.c_str(), impl_->mode) != 0) return tl::unexpected(errno_of(impl_->made));
  PARETO_TRY(flush_folder(impl_->made));
  PARETO_TRY(impl_->put_in_place());
  PARETO_TRY(flush_folder(impl_->folder.parent_path()));
  impl_->remove();
  return {};
}

fs::path user_folder(std::string_view leaf, const char* config_home, const char* home) {
  fs::path base = "/etc";
  if (config_home != nullptr && *config_home != '\0') {
    base = config_home;
  } else if (home != nullptr && *home != '\0') {
    base = fs::path(home) / ".config";
  }
  return base / "pareto-edge" / leaf;
}

fs::path user_folder(std::string_view leaf) {
  return user_folder(leaf, std::getenv("XDG_CONFIG_HOME"), std::getenv("HOME"));
}

}  // namespace pareto::tls
