// A library that makes writes of a program fail: LD_PRELOAD=libfail_writes.so. Tests only.
//
// It counts the calls that change files below a folder (open to write, write, truncate, allocate,
// sync, rename, link, make a folder). What is written by mapped memory or by FILE is not seen.
//
//   FAIL_WRITES_UNDER=/tmp/x    the folder
//   FAIL_WRITES_LOG=/tmp/log    file that gets a line a call: its number, name, and file
//   FAIL_WRITES_AT=17           number of the call that fails; absent: none
//   FAIL_WRITES_SHORT=1         if that call is write(), it writes half, and the next call fails: a
//                               disk that becomes full
//   FAIL_WRITES_ON=1            all calls after that one fail as well: a disk that stays full
//   FAIL_WRITES_WITH=EROFS      the error; absent: ENOSPC
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<long> calls{0};
std::atomic<bool> is_full{false};  ///< a call has written half, so the next one fails
constexpr int kWritesHalf = -1;    ///< in place of an error

const char* setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Returns whether a path is below the folder. Relative ones are not.
bool is_watched(const char* path) {
  const char* folder = setting("FAIL_WRITES_UNDER");
  return *folder != '\0' && path != nullptr && std::strncmp(path, folder, std::strlen(folder)) == 0;
}

/// Finds the path of a descriptor. Returns whether it is watched.
bool is_watched(int file, char (&path)[PATH_MAX]) {
  char link[64];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  const ssize_t size = ::readlink(link, path, sizeof(path) - 1);
  path[size < 0 ? 0 : size] = '\0';
  return is_watched(path);
}

/// Counts a call. Returns the error that it is to fail with, or 0.
int next_call(const char* name, const char* path) {
  const long number = ++calls;
  if (const char* log = setting("FAIL_WRITES_LOG"); *log != '\0') {
    char line[PATH_MAX + 64];
    const int size = std::snprintf(line, sizeof(line), "%ld %s %s\n", number, name, path);
    const auto file = static_cast<int>(
        ::syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    ::syscall(SYS_write, file, line, size);
    ::syscall(SYS_close, file);
  }
  const char* at = setting("FAIL_WRITES_AT");
  if (*at == '\0') return 0;
  const long wanted = std::atol(at);
  const bool writes_half = *setting("FAIL_WRITES_SHORT") == '1' && std::strcmp(name, "write") == 0;
  if (number == wanted && writes_half) {
    is_full = true;
    return kWritesHalf;
  }
  const bool fails = number == wanted || is_full.exchange(false) ||
                     (number > wanted && *setting("FAIL_WRITES_ON") == '1');
  if (!fails) return 0;
  return std::strcmp(setting("FAIL_WRITES_WITH"), "EROFS") == 0 ? EROFS : ENOSPC;
}

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool fails_at(const char* name, const char* path) {
  if (!is_watched(path)) return false;
  const int error = next_call(name, path);
  if (error != 0) errno = error;
  return error != 0;
}

bool fails_at(const char* name, int file) {
  char path[PATH_MAX];
  if (!is_watched(file, path)) return false;
  const int error = next_call(name, path);
  if (error != 0) errno = error;
  return error != 0;
}

bool writes(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0; }

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

#define PARETO_OPEN(name)                                              \
  int name(const char* path, int flags, ...) {                         \
    va_list arguments;                                                 \
    va_start(arguments, flags);                                        \
    const mode_t mode = mode_of(flags, arguments);                     \
    va_end(arguments);                                                 \
    if (writes(flags) && fails_at("open", path)) return -1;            \
    static auto* const next = real<int(const char*, int, ...)>(#name); \
    return next(path, flags, mode);                                    \
  }
#define PARETO_OPENAT(name)                                                 \
  int name(int folder, const char* path, int flags, ...) {                  \
    va_list arguments;                                                      \
    va_start(arguments, flags);                                             \
    const mode_t mode = mode_of(flags, arguments);                          \
    va_end(arguments);                                                      \
    if (writes(flags) && fails_at("open", path)) return -1;                 \
    static auto* const next = real<int(int, const char*, int, ...)>(#name); \
    return next(folder, path, flags, mode);                                 \
  }
#define PARETO_ON_FILE(result, name, parameters, arguments, failed) \
  result name parameters {                                          \
    if (fails_at(#name, file)) return failed;                       \
    static auto* const next = real<result parameters>(#name);       \
    return next arguments;                                          \
  }
#define PARETO_ON_PATH(name, parameters, arguments, path)  \
  int name parameters {                                    \
    if (fails_at(#name, path)) return -1;                  \
    static auto* const next = real<int parameters>(#name); \
    return next arguments;                                 \
  }

extern "C" {

PARETO_OPEN(open)
PARETO_OPEN(open64)
PARETO_OPENAT(openat)
PARETO_OPENAT(openat64)
ssize_t write(int file, const void* data, size_t size) {
  static auto* const kNext = real<ssize_t(int, const void*, size_t)>("write");
  char path[PATH_MAX];
  const int error = is_watched(file, path) ? next_call("write", path) : 0;
  if (error == kWritesHalf) return kNext(file, data, (size + 1) / 2);
  if (error == 0) return kNext(file, data, size);
  errno = error;
  return -1;
}
PARETO_ON_FILE(ssize_t, writev, (int file, const iovec* parts, int count), (file, parts, count), -1)
PARETO_ON_FILE(ssize_t, pwrite, (int file, const void* data, size_t size, off_t at),
               (file, data, size, at), -1)
PARETO_ON_FILE(ssize_t, pwrite64, (int file, const void* data, size_t size, off64_t at),
               (file, data, size, at), -1)
PARETO_ON_FILE(int, fsync, (int file), (file), -1)
PARETO_ON_FILE(int, fdatasync, (int file), (file), -1)
PARETO_ON_FILE(int, ftruncate, (int file, off_t size), (file, size), -1)
PARETO_ON_FILE(int, ftruncate64, (int file, off64_t size), (file, size), -1)
PARETO_ON_FILE(int, posix_fallocate, (int file, off_t at, off_t size), (file, at, size), errno)
PARETO_ON_FILE(int, posix_fallocate64, (int file, off64_t at, off64_t size), (file, at, size),
               errno)
PARETO_ON_PATH(rename, (const char* from, const char* to), (from, to), to)
PARETO_ON_PATH(link, (const char* from, const char* to), (from, to), to)
PARETO_ON_PATH(mkdir, (const char* path, mode_t mode), (path, mode), path)

}  // extern "C"
