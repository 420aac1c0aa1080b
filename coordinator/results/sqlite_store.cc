#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <sqlite3.h>

#include <cctype>
#include <optional>
#include <utility>

#include "coordinator/results/record_json.h"
#include "coordinator/results/run_names.h"
#include "coordinator/results/schema.h"
#include "coordinator/results/sqlite_error.h"
#include "coordinator/results/sqlite_rows.h"
#include "coordinator/results/store.h"
#include "coordinator/results/stored_json.h"
#include "core/base/file.h"
#include "core/base/text.h"

namespace pareto::results {
namespace {

constexpr int kBusyTimeoutMs = 10'000;

std::int64_t to_signed(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// Somebody who only looks may have mistyped the name.
tl::unexpected<Error> nothing_kept(const std::filesystem::path& path) {
  return fail(ErrorCode::kNotFound,
              "{} holds no run, for nothing was kept there yet: measure one (paretoctl sweep), or "
              "name another file with --store",
              path.string());
}

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

class SqliteStore final : public ResultStore {
 public:
  /// `may_make`: what is not there yet.
  SqliteStore(std::filesystem::path path, bool may_make)
      : path_(std::move(path)), may_make_(may_make) {}

  /// The exclusive mode keeps the index of the write-ahead log in memory: a file on a full disk can
  /// then still be read.
  Expected<> open(bool exclusive) {
    return open(path_.string(), SQLite::OPEN_READWRITE | (may_make_ ? SQLite::OPEN_CREATE : 0),
                exclusive);
  }

  /// Opens the store for a process that only looks and may not write next to the file, as SQLite
  /// does to read a write-ahead log. Without one it can be read as it lies there; nobody who writes
  /// to it does so without.
  Expected<> open_as_it_lies() {
    std::error_code none;
    if (std::filesystem::file_size(path_.string() + "-wal", none) > 0 && !none) {
      return fail(
          ErrorCode::kPermission,
          "{}: it was not closed in order, and this user may not mend it: name another file "
          "with --store, or change its owner",
          path_.string());
    }
    return open("file:" + in_uri(std::filesystem::absolute(path_).string()) + "?immutable=1",
                SQLite::OPEN_READONLY | SQLite::OPEN_URI, false);
  }

  Expected<> check_writable() override {
    if (::sqlite3_db_readonly(database_->getHandle(), "main") == 0) return {};
    return fail(ErrorCode::kPermission,
                "{}: this user may read it but not write to it (it may be root's): name another "
                "file with --store, or change its owner",
                path_.string());
  }

  Expected<> begin_run(const RunRecord& run) override {
    return guarded([&]() -> Expected<> {
      add_later_columns(*database_);
      SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
      PARETO_TRY(check_tag_is_free(*database_, run.tag, run.id));
      SQLite::Statement insert(
          *database_,
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
      insert.bind(":number", next_run_number(*database_));
      bind_outcome(insert, run);
      insert.exec();
      transaction.commit();
      return {};
    });
  }

  Expected<> put_trial(const RunRecord& run, const TrialRecord& trial) override {
    return guarded([&]() -> Expected<> {
      SQLite::Transaction transaction(*database_);
      SQLite::Statement insert(*database_, upsert_trial());
      insert.bind(":run", run.id);
      bind_trial(insert, trial);
      insert.exec();
      SQLite::Statement update(*database_, "UPDATE runs SET passes=:passes WHERE id=:id");
      update.bind(":passes", passes_to_json(run.passes));
      update.bind(":id", run.id);
      update.exec();
      transaction.commit();
      return {};
    });
  }

  Expected<> put_trials(const std::string& run_id,
                        const std::vector<TrialRecord>& trials) override {
    return guarded([&]() -> Expected<> {
      SQLite::Transaction transaction(*database_);
      SQLite::Statement insert(*database_, upsert_trial());
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
    return guarded([&]() -> Expected<> {
      SQLite::Transaction transaction(*database_);
      SQLite::Statement update(*database_,
                               "UPDATE runs SET finished=:finished, options=:options, "
                               "devices=:devices, passes=:passes, note=:note WHERE id=:id");
      bind_outcome(update, run);
      update.bind(":id", run.id);
      if (update.exec() == 0) return no_such_run(*database_, run.id, path_);
      SQLite::Statement mark(
          *database_,
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
    return guarded([&]() -> Expected<RunRecord> {
      PARETO_ASSIGN(const std::string whole, results::find_run(*database_, id, path_));
      SQLite::Statement row(*database_, "SELECT * FROM runs WHERE id=:id");
      row.bind(":id", whole);
      if (!row.executeStep()) return no_such_run(*database_, whole, path_);
      RunRecord run = run_from(row);
      if (!run.damage.empty()) {
        return fail(ErrorCode::kCorrupt, "run {}: it is damaged: {}", run.id, run.damage);
      }
      PARETO_TRY(load_trials(run, true));
      return run;
    });
  }

  Expected<std::vector<RunRecord>> list_runs() override {
    return guarded([&]() -> Expected<std::vector<RunRecord>> {
      std::vector<RunRecord> runs;
      SQLite::Statement row(*database_, "SELECT * FROM runs ORDER BY " + order_of_runs(*database_) +
                                            " DESC, id DESC");
      while (row.executeStep()) {
        RunRecord run = run_from(row);
        PARETO_TRY(load_trials(run, false));
        runs.push_back(std::move(run));
      }
      return runs;
    });
  }

  Expected<std::string> find_run(const std::string& id) override {
    return guarded([&] { return results::find_run(*database_, id, path_); });
  }

  Expected<> remove_run(const std::string& id) override {
    return guarded([&]() -> Expected<> {
      SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
      for (const char* const statement :
           {"DELETE FROM trials WHERE run=:id", "DELETE FROM runs WHERE id=:id"}) {
        SQLite::Statement remove(*database_, statement);
        remove.bind(":id", id);
        remove.exec();
      }
      if (database_->getChanges() == 0) return no_such_run(*database_, id, path_);
      transaction.commit();
      return {};
    });
  }

  Expected<> tag_run(const std::string& id, const std::string& tag) override {
    return guarded([&]() -> Expected<> {
      if (!tag.empty()) PARETO_TRY(check_run_tag(tag));
      add_later_columns(*database_);
      SQLite::Transaction transaction(*database_, SQLite::TransactionBehavior::IMMEDIATE);
      PARETO_TRY(check_tag_is_free(*database_, tag, id));
      SQLite::Statement update(*database_, "UPDATE runs SET tag=:tag WHERE id=:id");
      update.bind(":tag", tag);
      update.bind(":id", id);
      if (update.exec() == 0) return no_such_run(*database_, id, path_);
      transaction.commit();
      return {};
    });
  }

  Expected<> check_tag(const std::string& tag) override {
    return guarded([&]() -> Expected<> {
      PARETO_TRY(check_run_tag(tag));
      return check_tag_is_free(*database_, tag, "");
    });
  }

  Expected<> put_profile(const std::string& key, const plan::DeviceProfile& profile) override {
    return guarded([&]() -> Expected<> {
      database_->exec(kProfileSchema);
      SQLite::Statement insert(*database_,
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
    return guarded([&]() -> Expected<std::optional<plan::DeviceProfile>> {
      if (!database_->tableExists("profiles")) return std::nullopt;
      SQLite::Statement row(*database_, "SELECT document FROM profiles WHERE key=:key");
      row.bind(":key", key);
      if (!row.executeStep()) return std::nullopt;
      const auto profile = plan::device_profile_from_json(row.getColumn("document").getString());
      return profile ? std::optional(*profile) : std::nullopt;
    });
  }

 private:
  /// Runs `body`, whose SQLite exceptions become errors.
  template <typename Body>
  auto guarded(Body body) -> decltype(body()) {
    try {
      return body();
    } catch (const SQLite::Exception& exception) {
      const int system_errno = database_ ? sqlite3_system_errno(database_->getHandle()) : errno;
      return tl::unexpected(error_from_sqlite(exception, system_errno, path_));
    }
  }

  Expected<> check_version() {
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

  Expected<> create_tables() {
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

  static void bind_outcome(SQLite::Statement& statement, const RunRecord& run) {
    statement.bind(":finished", run.finished);
    statement.bind(":options", run.options_json);
    statement.bind(":devices", devices_to_json(run.devices));
    statement.bind(":passes", passes_to_json(run.passes));
    statement.bind(":note", run.note);
  }

  Expected<> load_trials(RunRecord& run, bool with_details) {
    SQLite::Statement row(*database_, "SELECT " + (with_details ? "*" : columns_without_details()) +
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

  Expected<> open(const std::string& name, int flags, bool exclusive) {
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

  const std::filesystem::path path_;
  const bool may_make_;
  std::unique_ptr<SQLite::Database> database_;
};

Expected<std::unique_ptr<ResultStore>> open_store(const std::filesystem::path& path,
                                                  bool may_make) {
  auto store = std::make_unique<SqliteStore>(path, may_make);
  auto opened = store->open(false);
  if (!opened && opened.error().code == ErrorCode::kExhausted) opened = store->open(true);
  if (!opened && !may_make && store->open_as_it_lies()) return store;
  if (!opened) return tl::unexpected(std::move(opened).error());
  return store;
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
