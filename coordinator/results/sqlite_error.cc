#include "coordinator/results/sqlite_error.h"

#include <SQLiteCpp/Exception.h>
#include <sqlite3.h>

#include <cerrno>

namespace pareto::results {
namespace {

bool is_out_of_space(int code, int extended_code, int system_errno) {
  if (code == SQLITE_FULL) return true;
  // SQLITE_FULL is for ENOSPC alone: a quota or a limit on file sizes comes as a failed write, its
  // errno often lost on the way.
  if (extended_code == SQLITE_IOERR_WRITE || extended_code == SQLITE_IOERR_SHMSIZE) return true;
  return (code == SQLITE_IOERR || code == SQLITE_CANTOPEN) &&
         (system_errno == ENOSPC || system_errno == EDQUOT || system_errno == EFBIG);
}

bool is_unsynced(int extended_code) {
  return extended_code == SQLITE_IOERR_FSYNC || extended_code == SQLITE_IOERR_DIR_FSYNC ||
         extended_code == SQLITE_IOERR_TRUNCATE;
}

/// Returns whether it was a file next to the results file that could not be opened. SQLite tries
/// again without making it, so that its errno says only that it is not there.
bool is_file_beside(int code, int system_errno, const std::filesystem::path& path) {
  std::error_code unknown;
  return code == SQLITE_CANTOPEN && system_errno == ENOENT &&
         std::filesystem::exists(path, unknown);
}

}  // namespace

Error error_from_sqlite(const SQLite::Exception& exception, int system_errno,
                        const std::filesystem::path& path) {
  const int code = exception.getErrorCode() & 0xff;
  const std::string file = path.string();
  if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && system_errno == EROFS) {
    return {ErrorCode::kPermission,
            fmt::format("{}: its file system may only be read; what was stored stays readable: "
                        "mount it to be written to, or give another file with --store",
                        file)};
  }
  if (is_out_of_space(code, exception.getExtendedErrorCode(), system_errno)) {
    return {
        ErrorCode::kExhausted,
        fmt::format("{}: disk full (or a quota reached); what was stored stays readable: free some "
                    "space, or give another file with --store",
                    file)};
  }
  if (is_file_beside(code, system_errno, path)) {
    return {ErrorCode::kExhausted,
            fmt::format("{}: the file next to it that notes changes cannot be made: its file "
                        "system may be full, or may only be read: free some space, or give another "
                        "file with --store",
                        file)};
  }
  const auto with_reason = [&](ErrorCode error_code, std::string_view sentence) {
    return Error{error_code, fmt::format("{}: {} ({})", file, sentence, exception.what())};
  };
  // SQLite makes other calls before it tells, so that the cause is lost.
  if (is_unsynced(exception.getExtendedErrorCode())) {
    return with_reason(ErrorCode::kExhausted,
                       "what was written did not reach the disk: its file system may be full, or "
                       "the disk broken; what was stored stays readable: free some space, or give "
                       "another file with --store");
  }
  switch (code) {
    case SQLITE_NOTADB:
      return {ErrorCode::kCorrupt, fmt::format("{}: not a results file", file)};
    case SQLITE_CORRUPT:
    case SQLITE_SCHEMA:
      return with_reason(ErrorCode::kCorrupt, "a damaged results file");
    case SQLITE_PERM:
    case SQLITE_READONLY:
    case SQLITE_AUTH:
      return with_reason(ErrorCode::kPermission,
                         "cannot be written: name another file with --store");
    case SQLITE_CANTOPEN:
      return with_reason(system_errno == ENOENT || system_errno == ENOTDIR ? ErrorCode::kNotFound
                                                                           : ErrorCode::kPermission,
                         "cannot be opened: name another file with --store");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::kUnavailable,
              fmt::format("{}: another process is writing to it; try again", file)};
    case SQLITE_NOMEM:
      return with_reason(ErrorCode::kExhausted, "no memory");
    case SQLITE_CONSTRAINT:
      return with_reason(ErrorCode::kInvalidArgument, "refused");
    default:
      return with_reason(ErrorCode::kInternal, "the results file failed");
  }
}

}  // namespace pareto::results
