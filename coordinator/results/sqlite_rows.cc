#include "coordinator/results/sqlite_rows.h"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Statement.h>

#include <string_view>
#include <type_traits>

#include "coordinator/results/record_json.h"
#include "coordinator/results/stored_json.h"
#include "coordinator/results/trial_row.h"

namespace pareto::results {
namespace {

bool has_column(const SQLite::Statement& row, std::string_view name) {
  for (int i = 0; i < row.getColumnCount(); ++i) {
    if (row.getColumnName(i) == name) return true;
  }
  return false;
}

}  // namespace

void bind_trial(SQLite::Statement& statement, const TrialRecord& trial) {
  for_each_column(trial, [&](const char* column, const auto& field) {
    const std::string name = std::string(":") + column;
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, bool>) {
      statement.bind(name, field ? 1 : 0);
    } else {
      statement.bind(name, field);
    }
  });
  if (trial.split) {
    statement.bind(":split", trial.split->name);
    statement.bind(":position", trial.split->position);
    statement.bind(":boundary_bytes", static_cast<std::int64_t>(trial.split->boundary_bytes));
  }
  statement.bind(":status", status_of(trial));
  statement.bind(":details", details_to_json(trial));
}

std::string upsert_trial() {
  std::string columns = "run, split, position, boundary_bytes, status, details";
  std::string values = ":run, :split, :position, :boundary_bytes, :status, :details";
  std::string updates =
      "split=excluded.split, position=excluded.position, "
      "boundary_bytes=excluded.boundary_bytes, status=excluded.status, details=excluded.details";
  const TrialRecord any;
  for_each_column(any, [&](const std::string& column, const auto& /*field*/) {
    columns += ", " + column;
    values += ", :" + column;
    updates += ", " + column + "=excluded." + column;
  });
  return "INSERT INTO trials (" + columns + ") VALUES (" + values +
         ") ON CONFLICT (run, id) DO UPDATE SET " + updates;
}

std::string columns_without_details() {
  std::string columns = "split, position, boundary_bytes, status";
  const TrialRecord any;
  for_each_column(
      any, [&](const std::string& column, const auto& /*field*/) { columns += ", " + column; });
  return columns;
}

TrialRecord trial_from(SQLite::Statement& row) {
  TrialRecord trial;
  for_each_column(trial, [&](const char* column, auto& field) {
    using Field = std::decay_t<decltype(field)>;
    const SQLite::Column value = row.getColumn(column);
    if constexpr (std::is_same_v<Field, std::string>) {
      field = value.getString();
    } else if constexpr (std::is_same_v<Field, double>) {
      field = value.getDouble();
    } else if constexpr (std::is_same_v<Field, bool>) {
      field = value.getInt() != 0;
    } else {
      field = static_cast<Field>(value.getInt64());
    }
  });
  if (!row.getColumn("split").isNull()) {
    trial.split.emplace();
    trial.split->name = row.getColumn("split").getString();
    trial.split->position = row.getColumn("position").getInt64();
    trial.split->boundary_bytes =
        static_cast<std::uint64_t>(row.getColumn("boundary_bytes").getInt64());
  }
  const std::string status = row.getColumn("status").getString();
  if (status == "failed") trial.status = TrialStatus::kFailed;
  if (status == "skipped") trial.status = TrialStatus::kSkipped;
  if (status == "refused") trial.status = TrialStatus::kRefused;
  // Its figures are among the details, which are not always read.
  if (status == "predicted") trial.prediction.emplace();
  return trial;
}

namespace {

/// Reads what a row holds as JSON. Fails: kCorrupt.
Expected<> read_documents(SQLite::Statement& row, RunRecord& run) {
  PARETO_ASSIGN(run.devices, devices_from_json(row.getColumn("devices").getString()));
  PARETO_ASSIGN(run.passes, passes_from_json(row.getColumn("passes").getString()));
  if (has_column(row, "coordinator")) {
    PARETO_ASSIGN(run.coordinator, coordinator_from_json(row.getColumn("coordinator").getString()));
  }
  return {};
}

}  // namespace

RunRecord run_from(SQLite::Statement& row) {
  RunRecord run;
  run.id = row.getColumn("id").getString();
  run.model = row.getColumn("model").getString();
  run.model_digest = row.getColumn("model_digest").getString();
  run.model_weight_bytes =
      static_cast<std::uint64_t>(row.getColumn("model_weight_bytes").getInt64());
  run.started = row.getColumn("started").getString();
  run.finished = row.getColumn("finished").getString();
  run.command_line = row.getColumn("command_line").getString();
  run.options_json = row.getColumn("options").getString();
  run.software_version = row.getColumn("software_version").getString();
  run.seed = static_cast<std::uint64_t>(row.getColumn("seed").getInt64());
  run.note = row.getColumn("note").getString();
  if (has_column(row, "tag")) run.tag = row.getColumn("tag").getString();
  if (auto read = read_documents(row, run); !read) run.damage = read.error().message;
  return run;
}

}  // namespace pareto::results
