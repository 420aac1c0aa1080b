// Names and order of the runs of a results file. The order is that of storing, because clocks may
// be wrong: a Raspberry Pi without a battery starts in 1970.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace SQLite {
class Database;
}

namespace pareto::results {

/// Checks the form of a name that a user gives to a run. It is a letter, then letters, digits, '.',
/// '-' and '_', at most 64, and not "last". Fails: kInvalidArgument.
Expected<> check_run_tag(std::string_view tag);

/// Adds the columns of `runs` that files of earlier versions lack. Throws: as SQLite.
void add_later_columns(SQLite::Database& database);
/// Returns the expression that runs are sorted by. Files that nobody has written to since earlier
/// versions are sorted by their trials.
std::string order_of_runs(const SQLite::Database& database);
/// Returns the number of the next run, above those of all runs and trials. After
/// add_later_columns().
std::int64_t next_run_number(SQLite::Database& database);

/// Returns the whole id for a whole one, a tag, a unique beginning, "last" or "last~1". `path` is
/// for errors. Fails: kNotFound, kInvalidArgument (the beginning of several).
Expected<std::string> find_run(SQLite::Database& database, const std::string& name,
                               const std::filesystem::path& path);
tl::unexpected<Error> no_such_run(SQLite::Database& database, const std::string& name,
                                  const std::filesystem::path& path);
/// Checks that no other run has that tag; "" is free. Fails: kInvalidArgument naming the run.
Expected<> check_tag_is_free(SQLite::Database& database, const std::string& tag,
                             const std::string& run_id);

}  // namespace pareto::results
