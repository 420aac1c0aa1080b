#include "coordinator/results/run_names.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <vector>

#include "coordinator/results/schema.h"
#include "core/base/counted.h"
#include "core/base/text.h"

namespace pareto::results {
namespace {

constexpr std::string_view kLast = "last";
constexpr std::size_t kLongestTag = 64;

bool has_column(const SQLite::Database& database, const std::string& name) {
  SQLite::Statement row(database,
                        "SELECT count(*) FROM pragma_table_info('runs') WHERE name=:name");
  row.bind(":name", name);
  return row.executeStep() && row.getColumn(0).getInt() > 0;
}

/// Returns how many runs before the last "last" and "last~2" mean; no value if it is another name.
std::optional<int> steps_back(const std::string& name) {
  if (!name.starts_with(kLast)) return std::nullopt;
  if (name == kLast) return 0;
  if (name[kLast.size()] != '~') return std::nullopt;
  int steps = 0;
  const char* const end = name.data() + name.size();
  const auto [at, status] = std::from_chars(name.data() + kLast.size() + 1, end, steps);
  if (status != std::errc() || at != end || steps < 0) return std::nullopt;
  return steps;
}

std::vector<std::string> ids_of(SQLite::Statement& row) {
  std::vector<std::string> ids;
  while (row.executeStep()) ids.push_back(row.getColumn(0).getString());
  return ids;
}

std::vector<std::string> tags_of(SQLite::Database& database) {
  if (!has_column(database, "tag")) return {};
  SQLite::Statement row(database, "SELECT tag FROM runs WHERE tag<>'' ORDER BY tag");
  return ids_of(row);
}

std::optional<std::string> run_of_tag(SQLite::Database& database, const std::string& tag) {
  if (tag.empty() || !has_column(database, "tag")) return std::nullopt;
  SQLite::Statement row(database, "SELECT id FROM runs WHERE tag=:tag");
  row.bind(":tag", tag);
  if (!row.executeStep()) return std::nullopt;
  return row.getColumn(0).getString();
}

}  // namespace

Expected<> check_run_tag(std::string_view tag) {
  const auto fits = [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '.' || letter == '-' || letter == '_';
  };
  if (!tag.empty() && tag.size() <= kLongestTag && tag != kLast && std::ranges::all_of(tag, fits) &&
      std::isalpha(static_cast<unsigned char>(tag.front())) != 0) {
    return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              "\"{}\" cannot name a run: a name is a letter, then letters, digits, '.', '-' and "
              "'_', at most {}, and not \"last\"",
              tag, kLongestTag);
}

void add_later_columns(SQLite::Database& database) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  for (const LaterColumn& column : kLaterColumns) {
    if (!has_column(database, column.name)) database.exec(column.statement);
  }
  transaction.commit();
}

std::string order_of_runs(const SQLite::Database& database) {
  // Trials are numbered in the order in which they were stored. Builds before this one give their
  // runs no number.
  std::string by_trials =
      "coalesce((SELECT min(trials.number) FROM trials WHERE trials.run=runs.id), 0)";
  if (!has_column(database, "number")) return by_trials;
  return "CASE number WHEN 0 THEN " + by_trials + " ELSE number END";
}

std::int64_t next_run_number(SQLite::Database& database) {
  return database
      .execAndGet(
          "SELECT 1 + max(coalesce((SELECT max(number) FROM runs), 0), "
          "coalesce((SELECT max(number) FROM trials), 0))")
      .getInt64();
}

tl::unexpected<Error> no_such_run(SQLite::Database& database, const std::string& name,
                                  const std::filesystem::path& path) {
  const std::string order = order_of_runs(database);
  SQLite::Statement row(database, "SELECT id FROM runs ORDER BY " + order + " DESC, id DESC");
  const std::vector<std::string> ids = ids_of(row);
  if (ids.empty()) return fail(ErrorCode::kNotFound, "{} holds no run", path.string());
  std::vector<std::string> known = tags_of(database);
  known.insert(known.end(), ids.begin(), ids.end());
  return fail(ErrorCode::kNotFound, "{} holds no run \"{}\"{}; the last is {}", path.string(), name,
              did_you_mean(name, known), ids.front());
}

Expected<std::string> find_run(SQLite::Database& database, const std::string& name,
                               const std::filesystem::path& path) {
  if (const std::optional<int> back = steps_back(name)) {
    const std::string order = order_of_runs(database);
    SQLite::Statement row(
        database, "SELECT id FROM runs ORDER BY " + order + " DESC, id DESC LIMIT 1 OFFSET :back");
    row.bind(":back", *back);
    const std::vector<std::string> found = ids_of(row);
    if (!found.empty()) return found.front();
    const auto count = database.execAndGet("SELECT count(*) FROM runs").getInt64();
    if (count == 0) return no_such_run(database, name, path);
    return fail(ErrorCode::kNotFound, "\"{}\" needs {}, and {} holds {}", name,
                counted(*back + 1, "run"), path.string(), counted(count, "run"));
  }
  SQLite::Statement row(database,
                        "SELECT id FROM runs WHERE substr(id, 1, length(:id))=:id ORDER BY id");
  row.bind(":id", name);
  const std::vector<std::string> found = ids_of(row);
  if (!found.empty() && found.front() == name) return name;
  if (const auto tagged = run_of_tag(database, name)) return *tagged;
  if (found.empty() && !name.empty()) {
    // The end of an id is what tells one from its neighbours.
    SQLite::Statement ending(database, "SELECT id FROM runs WHERE substr(id, -length(:id))=:id");
    ending.bind(":id", name);
    const std::vector<std::string> ends = ids_of(ending);
    if (ends.size() == 1) return ends.front();
  }
  if (found.empty() || name.empty()) return no_such_run(database, name, path);
  if (found.size() == 1) return found.front();
  return fail(ErrorCode::kInvalidArgument, "\"{}\" is the beginning of {} runs: {}", name,
              found.size(), join(found));
}

Expected<> check_tag_is_free(SQLite::Database& database, const std::string& tag,
                             const std::string& run_id) {
  const auto taken = run_of_tag(database, tag);
  if (!taken || *taken == run_id) return {};
  return fail(ErrorCode::kInvalidArgument,
              "run {} is called \"{}\" already: choose another name, or take it from that run "
              "(paretoctl runs tag {} '')",
              *taken, tag, *taken);
}

}  // namespace pareto::results
