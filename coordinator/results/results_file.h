// A results file: a SQLite database of this schema, opened to write, to look, or as it lies.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/base/error.h"

namespace SQLite {
class Database;
}

namespace pareto::results {

/// Returns the error of a file that holds nothing yet. Those who only look may have mistyped its
/// name.
tl::unexpected<Error> nothing_kept(const std::filesystem::path& path);

/// An open results file. Threads: one owner.
class ResultsFile {
 public:
  /// Opens the file. If `may_make`, makes it if it is missing; if not, the right to read it is
  /// enough.
  /// Fails: kNotFound (nothing was kept there), kCorrupt (another database, or another version),
  /// kPermission, kExhausted.
  static Expected<std::unique_ptr<ResultsFile>> open(const std::filesystem::path& path,
                                                     bool may_make);
  ~ResultsFile();

  const std::filesystem::path& path() const { return path_; }
  SQLite::Database& database() { return *database_; }
  /// Checks that this user may write to the file. Fails: kPermission.
  Expected<> check_writable() const;

  /// Runs `body`, which returns an Expected. SQLite's exceptions become errors.
  template <typename Body>
  auto guarded(Body body) const -> decltype(body()) {
    try {
      return body();
    } catch (...) {
      return tl::unexpected(error_of_exception());
    }
  }

 private:
  ResultsFile(std::filesystem::path path, bool may_make);

  /// Opens the file to write. The exclusive mode keeps the index of the write-ahead log in memory:
  /// a file on a full disk can then still be read.
  Expected<> open_to_write(bool exclusive);
  /// Opens the file for a process that only looks and may not write next to it. SQLite writes there
  /// to read a write-ahead log. Without a log the file can be read as it lies there, because nobody
  /// writes to it without one.
  Expected<> open_as_it_lies();
  Expected<> connect(const std::string& name, int flags, bool exclusive);
  Expected<> check_version();
  Expected<> create_tables();
  /// Returns the SQLite exception that is being handled as an error. Throws any other again.
  Error error_of_exception() const;

  const std::filesystem::path path_;
  const bool may_make_;
  std::unique_ptr<SQLite::Database> database_;
};

}  // namespace pareto::results
