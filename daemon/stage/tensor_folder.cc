#include "daemon/stage/tensor_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/file.h"

namespace pareto::daemon {
namespace {

namespace fs = std::filesystem;

Expected<> make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return tl::unexpected(error_from_errno(error.value(), path.string()));
  return {};
}

/// Returns the unit in which the folder's file system allots space.
std::uint64_t block_bytes(const fs::path& folder) {
  constexpr std::uint64_t kUsual = 4096;
  struct statvfs system {};
  const bool known = ::statvfs(folder.c_str(), &system) == 0 && system.f_frsize > 0;
  return known ? std::min<std::uint64_t>(system.f_frsize, 1 << 20) : kUsual;
}

/// Returns a file below objects/ with the digest in its name; none for a foreign file.
std::optional<TensorFolder::File> recognise(const fs::directory_entry& file) {
  std::error_code error;
  if (!file.is_regular_file(error)) return std::nullopt;
  const auto digest =
      parse_digest(file.path().parent_path().filename().string() + file.path().filename().string());
  if (!digest) return std::nullopt;
  TensorFolder::File found{*digest, file.file_size(error), {}};
  if (error) return std::nullopt;
  found.last_used = file.last_write_time(error);
  return found;
}

}  // namespace

TensorFolder::TensorFolder(fs::path path)
    : path_(std::move(path)), block_bytes_(block_bytes(path_)) {}

Expected<std::unique_ptr<TensorFolder>> TensorFolder::open(const fs::path& path) {
  PARETO_TRY(make_folder(path / "objects"));
  PARETO_TRY(make_folder(path / "incoming"));
  std::unique_ptr<TensorFolder> folder(new TensorFolder(path));
  PARETO_TRY(folder->lock());
  std::error_code error;
  for (const auto& file : fs::directory_iterator(path / "incoming", error)) {
    std::error_code ignored;
    fs::remove(file.path(), ignored);
  }
  return folder;
}

Expected<> TensorFolder::lock() {
  const fs::path path = path_ / "lock";
  lock_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  // Nobody else may take the lock.
  if (lock_) static_cast<void>(::fchmod(lock_.get(), 0600));
  if (!lock_) return tl::unexpected(error_from_errno(errno, path.string()));
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return tl::unexpected(error_from_errno(errno, path.string()));
    return fail(ErrorCode::kPermission, "{} is used by another paretod", path_.string());
  }
  return {};
}

Expected<std::vector<TensorFolder::File>> TensorFolder::files() const {
  std::vector<File> files;
  std::error_code error;
  auto walk = fs::recursive_directory_iterator(path_ / "objects", error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    if (auto found = recognise(*walk)) files.push_back(*found);
  }
  if (error) return tl::unexpected(error_from_errno(error.value(), "reading the folder"));
  std::ranges::sort(files, {}, &File::last_used);
  return files;
}

fs::path TensorFolder::path_of(const Digest& digest) const {
  const std::string hex = digest.hex();
  return path_ / "objects" / hex.substr(0, 2) / hex.substr(2);
}

std::uint64_t TensorFolder::taken_bytes(std::uint64_t file_bytes) const {
  return (file_bytes + block_bytes_ - 1) / block_bytes_ * block_bytes_;
}

std::uint64_t TensorFolder::free_bytes() const {
  std::error_code error;
  const fs::space_info space = fs::space(path_, error);
  return error ? 0 : space.available;
}

}  // namespace pareto::daemon
