#include "coordinator/results/results_file.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Transaction.h>
#include <sqlite3.h>

#include <cctype>
#include <cerrno>
#include <string>
#include <utility>

#include "coordinator/results/schema.h"
#include "coordinator/results/sqlite_error.h"

namespace pareto::results {
namespace {

constexpr int kBusyTimeoutMs = 10'000;

/// Returns a path as SQLite's URIs want it.
std::string in_uri(const std::string& path) {
  std::string text;
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' ||
                       c == '-' || c == '_';
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

}  // namespace

tl::unexpected<Error> nothing_kept(const std::filesystem::path& path) {
  return fail(ErrorCode::kNotFound,
              "{} holds no run, for nothing was kept there yet: measure one (paretoctl sweep), or "
              "name another file with --store",
              path.string());
}

ResultsFile::ResultsFile(std::filesystem::path path, bool may_make)
    : path_(std::move(path)), may_make_(may_make) {}

ResultsFile::~ResultsFile() = default;

Expected<std::unique_ptr<ResultsFile>> ResultsFile::open(const std::filesystem::path& path,
                                                         bool may_make) {
  std::unique_ptr<ResultsFile> file(new ResultsFile(path, may_make));
  auto opened = file->open_to_write(false);
  if (!opened && opened.error().code == ErrorCode::kExhausted) opened = file->open_to_write(true);
  if (!opened && !may_make && file->open_as_it_lies()) return file;
  if (!opened) return tl::unexpected(std::move(opened).error());
  return file;
}

Expected<> ResultsFile::open_to_write(bool exclusive) {
  return connect(path_.string(), SQLite::OPEN_READWRITE | (may_make_ ? SQLite::OPEN_CREATE : 0),
                 exclusive);
}

Expected<> ResultsFile::open_as_it_lies() {
  std::error_code none;
  if (std::filesystem::file_size(path_.string() + "-wal", none) > 0 && !none) {
    return fail(ErrorCode::kPermission,
                "{}: it was not closed in order, and this user may not mend it: name another file "
                "with --store, or change its owner",
                path_.string());
  }
  return connect("file:" + in_uri(std::filesystem::absolute(path_).string()) + "?immutable=1",
                 SQLite::OPEN_READONLY | SQLite::OPEN_URI, false);
}

Expected<> ResultsFile::connect(const std::string& name, int flags, bool exclusive) {
  return guarded([&]() -> Expected<> {
    database_.reset();
    database_ = std::make_unique<SQLite::Database>(name, flags, kBusyTimeoutMs);
    if (exclusive) database_->exec("PRAGMA locking_mode=EXCLUSIVE");
    PARETO_TRY(check_version());
    // Committed means on the disk: a row is there whole or not at all, whatever happens to the
    // machine.
    database_->exec("PRAGMA synchronous=FULL");
    database_->exec("PRAGMA foreign_keys=ON");
    return {};
  });
}

Expected<> ResultsFile::check_version() {
  const int application = database_->execAndGet("PRAGMA application_id").getInt();
  const int version = database_->execAndGet("PRAGMA user_version").getInt();
  if (application == kApplicationId && version == kSchemaVersion) return {};
  if (application == kApplicationId) {
    return fail(ErrorCode::kCorrupt,
                "{}: results of version {}, this build knows version {}: use the build that "
                "wrote them, or another file with --store",
                path_.string(), version, kSchemaVersion);
  }
  if (database_->execAndGet("SELECT count(*) FROM sqlite_master").getInt() != 0) {
    return fail(ErrorCode::kCorrupt, "{}: a database, but not of results", path_.string());
  }
  if (!may_make_) return nothing_kept(path_);
  return create_tables();
}

Expected<> ResultsFile::create_tables() {
  database_->exec("PRAGMA journal_mode=WAL");
  SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
  // Another process may have been first.
  if (database_->execAndGet("PRAGMA user_version").getInt() == kSchemaVersion) return {};
  database_->exec(kSchema);
  database_->exec(fmt::format("PRAGMA application_id={}", kApplicationId));
  database_->exec(fmt::format("PRAGMA user_version={}", kSchemaVersion));
  transaction.commit();
  return {};
}

Expected<> ResultsFile::check_writable() const {
  if (::sqlite3_db_readonly(database_->getHandle(), "main") == 0) return {};
  return fail(ErrorCode::kPermission,
              "{}: this user may read it but not write to it (it may be root's, or its file system "
              "may only be read): name another file with --store, or change its owner",
              path_.string());
}

Error ResultsFile::error_of_exception() const {
  // Before anything else that may change it.
  const int last_errno = errno;
  try {
    throw;
  } catch (const SQLite::Exception& exception) {
    const int system_errno = database_ ? sqlite3_system_errno(database_->getHandle()) : last_errno;
    return error_from_sqlite(exception, system_errno, path_);
  }
}

}  // namespace pareto::results
