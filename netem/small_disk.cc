#include "netem/small_disk.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>

#include "core/base/file.h"

namespace pareto::netem {
namespace {

constexpr const char* kFileSystem = "tmpfs";

tl::unexpected<Error> no_disk(const std::filesystem::path& folder) {
  if (errno == EPERM || errno == EACCES) {
    return fail(ErrorCode::kPermission,
                "{}: a device's own disk is mounted, which needs root (in a container: "
                "--privileged)",
                folder.string());
  }
  return tl::unexpected(error_from_errno(errno, "mounting a disk at " + folder.string()));
}

}  // namespace

Expected<SmallDisk> SmallDisk::create(const std::filesystem::path& folder, std::uint64_t bytes) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return tl::unexpected(error_from_errno(error.value(), folder.string()));
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
    return no_disk(folder);
  }
  const std::string options = fmt::format("size={},mode=0700", bytes);
  if (::mount(kFileSystem, folder.c_str(), kFileSystem, MS_NODEV | MS_NOSUID, options.c_str()) !=
      0) {
    return no_disk(folder);
  }
  return SmallDisk(folder, bytes);
}

SmallDisk::~SmallDisk() {
  if (!folder_.empty()) ::umount2(folder_.c_str(), MNT_DETACH);
}

Expected<> SmallDisk::fill() const {
  struct statvfs now {};
  if (::statvfs(folder_.c_str(), &now) != 0) return no_disk(folder_);
  const std::uint64_t used = std::uint64_t{now.f_blocks - now.f_bfree} * now.f_frsize;
  // Of size 0 it would have no limit.
  return resize(std::max<std::uint64_t>(used, now.f_frsize));
}

Expected<> SmallDisk::free() const { return resize(bytes_); }

Expected<> SmallDisk::resize(std::uint64_t bytes) const {
  const std::string options = fmt::format("size={}", bytes);
  if (::mount(nullptr, folder_.c_str(), nullptr, MS_REMOUNT | MS_NODEV | MS_NOSUID,
              options.c_str()) == 0) {
    return {};
  }
  return no_disk(folder_);
}

}  // namespace pareto::netem
