#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <memory>
#include <optional>
#include <utility>

#include "coordinator/results/record_json.h"
#include "coordinator/results/results_file.h"
#include "coordinator/results/run_names.h"
#include "coordinator/results/schema.h"
#include "coordinator/results/sqlite_rows.h"
#include "coordinator/results/store.h"
#include "coordinator/results/stored_json.h"
#include "core/base/file.h"
#include "core/base/text.h"

namespace pareto::results {
namespace {

std::int64_t to_signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// Runs, trials and profiles as rows of a results file.
class SqliteStore final : public ResultStore {
 public:
  explicit SqliteStore(std::unique_ptr<ResultsFile> file)
      : file_(std::move(file)), database_(file_->database()) {}

  Expected<> check_writable() override { return file_->check_writable(); }

  Expected<> begin_run(const RunRecord& run) override {
    return file_->guarded([&]() -> Expected<> {
      add_later_columns(database_);
      SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
      PARETO_TRY(check_tag_is_free(database_, run.tag, run.id));
      SQLite::Statement insert(
          database_,
          "INSERT INTO runs (id, model, model_digest, model_weight_bytes, started, finished, "
          "command_line, options, software_version, seed, devices, passes, note, coordinator, "
          "tag, number) "
          "VALUES (:id, :model, :digest, :weights, :started, :finished, :command, :options, "
          ":version, :seed, :devices, :passes, :note, :coordinator, :tag, :number)");
      insert.bind(":id", run.id);
      insert.bind(":model", run.model);
      insert.bind(":digest", run.model_digest);
      insert.bind(":weights", to_signed(run.model_weight_bytes));
      insert.bind(":started", run.started);
      insert.bind(":command", run.command_line);
      insert.bind(":version", run.software_version);
      insert.bind(":seed", to_signed(run.seed));
      insert.bind(":coordinator", coordinator_to_json(run.coordinator));
      insert.bind(":tag", run.tag);
      insert.bind(":number", next_run_number(database_));
      bind_outcome(insert, run);
      insert.exec();
      transaction.commit();
      return {};
    });
  }

  Expected<> put_trial(const RunRecord& run, const TrialRecord& trial) override {
    return file_->guarded([&]() -> Expected<> {
      SQLite::Transaction transaction(database_);
      SQLite::Statement insert(database_, upsert_trial());
      insert.bind(":run", run.id);
      bind_trial(insert, trial);
      insert.exec();
      SQLite::Statement update(database_, "UPDATE runs SET passes=:passes WHERE id=:id");
      update.bind(":passes", passes_to_json(run.passes));
      update.bind(":id", run.id);
      update.exec();
      transaction.commit();
      return {};
    });
  }

  Expected<> put_trials(const std::string& run_id,
                        const std::vector<TrialRecord>& trials) override {
    return file_->guarded([&]() -> Expected<> {
      SQLite::Transaction transaction(database_);
      SQLite::Statement insert(database_, upsert_trial());
      for (const TrialRecord& trial : trials) {
        insert.bind(":run", run_id);
        bind_trial(insert, trial);
        insert.exec();
        insert.reset();
        insert.clearBindings();
      }
      transaction.commit();
      return {};
    });
  }

  Expected<> update_run(const RunRecord& run) override {
    return file_->guarded([&]() -> Expected<> {
      SQLite::Transaction transaction(database_);
      SQLite::Statement update(database_,
                               "UPDATE runs SET finished=:finished, options=:options, "
                               "devices=:devices, passes=:passes, note=:note WHERE id=:id");
      bind_outcome(update, run);
      update.bind(":id", run.id);
      if (update.exec() == 0) return no_such_run(database_, run.id, file_->path());
      SQLite::Statement mark(
          database_,
          "UPDATE trials SET p50_ms=:p50_ms, p50_low_ms=:p50_low_ms, p50_high_ms=:p50_high_ms, "
          "samples_per_s=:samples_per_s, samples_per_s_low=:samples_per_s_low, "
          "samples_per_s_high=:samples_per_s_high, compute_ms=:compute_ms, "
          "transfer_ms=:transfer_ms, wait_ms=:wait_ms, on_front=:on_front, p_front=:p_front "
          "WHERE run=:run AND id=:id");
      for (const TrialRecord& trial : run.trials) {
        mark.bind(":p50_ms", trial.latency.p50_ms);
        mark.bind(":p50_low_ms", trial.latency.ci95_ms.low);
        mark.bind(":p50_high_ms", trial.latency.ci95_ms.high);
        mark.bind(":samples_per_s", trial.throughput.samples_per_s);
        mark.bind(":samples_per_s_low", trial.throughput.ci95.low);
        mark.bind(":samples_per_s_high", trial.throughput.ci95.high);
        mark.bind(":compute_ms", trial.time_split.compute_ms);
        mark.bind(":transfer_ms", trial.time_split.transfer_ms);
        mark.bind(":wait_ms", trial.time_split.wait_ms);
        mark.bind(":on_front", trial.on_front ? 1 : 0);
        mark.bind(":p_front", trial.p_front);
        mark.bind(":run", run.id);
        mark.bind(":id", trial.id);
        mark.exec();
        mark.reset();
      }
      transaction.commit();
      return {};
    });
  }

  Expected<RunRecord> load_run(const std::string& id) override {
    return file_->guarded([&]() -> Expected<RunRecord> {
      PARETO_ASSIGN(const std::string whole, results::find_run(database_, id, file_->path()));
      SQLite::Statement row(database_, "SELECT * FROM runs WHERE id=:id");
      row.bind(":id", whole);
      if (!row.executeStep()) return no_such_run(database_, whole, file_->path());
      RunRecord run = run_from(row);
      if (!run.damage.empty()) {
        return fail(ErrorCode::kCorrupt, "run {}: it is damaged: {}", run.id, run.damage);
      }
      PARETO_TRY(load_trials(run, true));
      return run;
    });
  }

  Expected<std::vector<RunRecord>> list_runs() override {
    return file_->guarded([&]() -> Expected<std::vector<RunRecord>> {
      std::vector<RunRecord> runs;
      SQLite::Statement row(
          database_, "SELECT * FROM runs ORDER BY " + order_of_runs(database_) + " DESC, id DESC");
      while (row.executeStep()) {
        RunRecord run = run_from(row);
        PARETO_TRY(load_trials(run, false));
        runs.push_back(std::move(run));
      }
      return runs;
    });
  }

  Expected<std::string> find_run(const std::string& id) override {
    return file_->guarded([&] { return results::find_run(database_, id, file_->path()); });
  }

  Expected<> remove_run(const std::string& id) override {
    return file_->guarded([&]() -> Expected<> {
      SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
      for (const char* const statement :
           {"DELETE FROM trials WHERE run=:id", "DELETE FROM runs WHERE id=:id"}) {
        SQLite::Statement remove(database_, statement);
        remove.bind(":id", id);
        remove.exec();
      }
      if (database_.getChanges() == 0) return no_such_run(database_, id, file_->path());
      transaction.commit();
      return {};
    });
  }

  Expected<> tag_run(const std::string& id, const std::string& tag) override {
    return file_->guarded([&]() -> Expected<> {
      if (!tag.empty()) PARETO_TRY(check_run_tag(tag));
      add_later_columns(database_);
      SQLite::Transaction transaction(database_, SQLite::TransactionBehavior::IMMEDIATE);
      PARETO_TRY(check_tag_is_free(database_, tag, id));
      SQLite::Statement update(database_, "UPDATE runs SET tag=:tag WHERE id=:id");
      update.bind(":tag", tag);
      update.bind(":id", id);
      if (update.exec() == 0) return no_such_run(database_, id, file_->path());
      transaction.commit();
      return {};
    });
  }

  Expected<> check_tag(const std::string& tag) override {
    return file_->guarded([&]() -> Expected<> {
      PARETO_TRY(check_run_tag(tag));
      return check_tag_is_free(database_, tag, "");
    });
  }

  Expected<> put_profile(const std::string& key, const plan::DeviceProfile& profile) override {
    return file_->guarded([&]() -> Expected<> {
      database_.exec(kProfileSchema);
      SQLite::Statement insert(database_,
                               "INSERT INTO profiles (key, device, model, measured, document) "
                               "VALUES (:key, :device, :model, :measured, :document) "
                               "ON CONFLICT (key) DO UPDATE SET measured=excluded.measured, "
                               "document=excluded.document");
      insert.bind(":key", key);
      insert.bind(":device", profile.device);
      insert.bind(":model", profile.model);
      insert.bind(":measured", profile.measured);
      insert.bind(":document", to_json(profile));
      insert.exec();
      return {};
    });
  }

  Expected<std::optional<plan::DeviceProfile>> find_profile(const std::string& key) override {
    return file_->guarded([&]() -> Expected<std::optional<plan::DeviceProfile>> {
      if (!database_.tableExists("profiles")) return std::nullopt;
      SQLite::Statement row(database_, "SELECT document FROM profiles WHERE key=:key");
      row.bind(":key", key);
      if (!row.executeStep()) return std::nullopt;
      const auto profile = plan::device_profile_from_json(row.getColumn("document").getString());
      return profile ? std::optional(*profile) : std::nullopt;
    });
  }

  Expected<std::vector<plan::DeviceProfile>> profiles_of(const std::string& model_digest) override {
    return file_->guarded([&]() -> Expected<std::vector<plan::DeviceProfile>> {
      std::vector<plan::DeviceProfile> profiles;
      if (!database_.tableExists("profiles")) return profiles;
      SQLite::Statement rows(database_,
                             "SELECT document FROM profiles ORDER BY measured DESC, key");
      while (rows.executeStep()) {
        auto profile = plan::device_profile_from_json(rows.getColumn("document").getString());
        if (!profile || profile->model_digest != model_digest) continue;
        profiles.push_back(*std::move(profile));
      }
      return profiles;
    });
  }

 private:
  static void bind_outcome(SQLite::Statement& statement, const RunRecord& run) {
    statement.bind(":finished", run.finished);
    statement.bind(":options", run.options_json);
    statement.bind(":devices", devices_to_json(run.devices));
    statement.bind(":passes", passes_to_json(run.passes));
    statement.bind(":note", run.note);
  }

  Expected<> load_trials(RunRecord& run, bool with_details) {
    SQLite::Statement row(database_, "SELECT " + (with_details ? "*" : columns_without_details()) +
                                         " FROM trials WHERE run=:run ORDER BY number");
    row.bind(":run", run.id);
    while (row.executeStep()) {
      run.trials.push_back(trial_from(row));
      if (with_details) {
        PARETO_TRY(
            with_context(details_from_json(row.getColumn("details").getString(), run.trials.back()),
                         "run {}", run.id));
      }
    }
    return {};
  }

  const std::unique_ptr<ResultsFile> file_;
  SQLite::Database& database_;
};

Expected<std::unique_ptr<ResultStore>> open_store(const std::filesystem::path& path,
                                                  bool may_make) {
  PARETO_ASSIGN(auto file, ResultsFile::open(path, may_make));
  return std::make_unique<SqliteStore>(std::move(file));
}

}  // namespace

Expected<std::unique_ptr<ResultStore>> ResultStore::open(const std::filesystem::path& path) {
  if (path.has_parent_path()) {
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) {
      const Error cause =
          error_from_errno(error.value(), "making the folder " + path.parent_path().string());
      return fail(cause.code, "{}: name another results file with --store", cause.message);
    }
  }
  return open_store(path, true);
}

Expected<std::unique_ptr<ResultStore>> ResultStore::open_existing(
    const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return nothing_kept(path);
  return open_store(path, false);
}

std::filesystem::path ResultStore::default_path(const char* data_home, const char* home) {
  std::filesystem::path folder;
  if (data_home != nullptr && *data_home != '\0') {
    folder = data_home;
  } else if (home != nullptr && *home != '\0') {
    folder = std::filesystem::path(home) / ".local" / "share";
  } else {
    std::error_code none;
    folder = std::filesystem::temp_directory_path(none);
    if (none) folder = "/tmp";
  }
  return folder / "pareto-edge" / "results.db";
}

}  // namespace pareto::results
