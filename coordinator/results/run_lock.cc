#include "coordinator/results/run_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#include "core/base/file.h"

namespace pareto::results {
namespace {

/// Returns the byte of a run: FNV-1a of its name. Two runs of one byte would have to be measured at
/// the same time to be in each other's way.
off_t place_of(std::string_view run_id) {
  std::uint64_t hash = 14'695'981'039'346'656'037U;
  for (const char letter : run_id) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 1'099'511'628'211U;
  }
  return static_cast<off_t>(hash >> 33);  // it may have 31 bits
}

/// Gives a file to the owner of the results: one that root leaves next to a user's results would
/// keep that user from measuring.
void give_to_owner_of(const std::filesystem::path& store, const FileDescriptor& file) {
  struct stat kept {};
  if (::geteuid() != 0 || ::stat(store.c_str(), &kept) != 0) return;
  [[maybe_unused]] const int done = ::fchown(file.get(), kept.st_uid, kept.st_gid);
}

/// However the store is called, it has one lock.
std::string path_of(const std::filesystem::path& store) {
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(store, ignored);
  return (whole.empty() ? store : whole).string() + ".lock";
}

struct flock lock_of(std::string_view run_id) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = place_of(run_id);
  lock.l_len = 1;
  return lock;
}

}  // namespace

Expected<std::optional<RunLock>> RunLock::try_take(const std::filesystem::path& store,
                                                   std::string_view run_id) {
  const std::string path = path_of(store);
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file) {
    const Error cause = error_from_errno(errno, path);
    return fail(cause.code, "{}: it has to be next to the results: name another file with --store",
                cause.message);
  }
  give_to_owner_of(store, file);
  struct flock lock = lock_of(run_id);
  // Of this open file and not of the process: closing another one of it frees nothing.
  if (::fcntl(file.get(), F_OFD_SETLK, &lock) == 0) return RunLock(std::move(file));
  if (errno == EAGAIN || errno == EACCES) return std::nullopt;
  return tl::unexpected(error_from_errno(errno, "locking " + path));
}

bool RunLock::is_taken(const std::filesystem::path& store, std::string_view run_id) {
  const FileDescriptor file(::open(path_of(store).c_str(), O_RDONLY | O_CLOEXEC));
  struct flock lock = lock_of(run_id);
  return file && ::fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace pareto::results
