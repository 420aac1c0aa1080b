#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "coordinator/results/record_json.h"
#include "coordinator/results/store.h"
#include "coordinator/results/stored_json.h"
#include "core/base/file.h"
#include "tests/support/synthetic_run.h"

namespace pareto::results {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Store : public testing::Test {
 protected:
  Store() : folder_(TemporaryFolder::create("store").value()) {}
  std::filesystem::path path() const { return folder_.path() / "sub" / "results.db"; }
  std::unique_ptr<ResultStore> open() const {
    auto store = ResultStore::open(path());
    EXPECT_TRUE(store) << store.error().message;
    return std::move(store).value();
  }
  /// Returns one SQL statement by another connection; its first column as text.
  std::string sql(const std::string& statement) const {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path().c_str(), &database), SQLITE_OK);
    std::string first;
    const auto keep_first = [](void* out, int columns, char** values, char** /*names*/) {
      if (columns > 0 && values[0] != nullptr) *static_cast<std::string*>(out) = values[0];
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(database, statement.c_str(), keep_first, &first, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
    return first;
  }

  TemporaryFolder folder_;
};

/// Returns everything of a trial, samples included, as one text.
std::string whole(const TrialRecord& trial) {
  return dump(to_json(trial)) + details_to_json(trial);
}

void put_all(ResultStore& store, const RunRecord& run) {
  ASSERT_TRUE(store.begin_run(run));
  for (const TrialRecord& trial : run.trials) ASSERT_TRUE(store.put_trial(run, trial));
  ASSERT_TRUE(store.update_run(run));
}

TEST_F(Store, GivesBackWhatWasPut) {
  const RunRecord run = test::synthetic_run();
  put_all(*open(), run);
  const auto loaded = open()->load_run(run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(dump(to_json(*loaded)), dump(to_json(run)));
  ASSERT_EQ(loaded->trials.size(), run.trials.size());
  for (std::size_t i = 0; i < run.trials.size(); ++i) {
    EXPECT_EQ(whole(loaded->trials[i]), whole(run.trials[i]));
    EXPECT_EQ(loaded->trials[i].plan, run.trials[i].plan);
    ASSERT_EQ(loaded->trials[i].rounds.size(), run.trials[i].rounds.size());
    for (std::size_t j = 0; j < run.trials[i].rounds.size(); ++j) {
      EXPECT_EQ(loaded->trials[i].rounds[j].latency_ms, run.trials[i].rounds[j].latency_ms);
      EXPECT_EQ(loaded->trials[i].rounds[j].loading, run.trials[i].rounds[j].loading);
    }
    if (run.trials[i].split) {
      EXPECT_EQ(loaded->trials[i].split->boundary, run.trials[i].split->boundary);
      EXPECT_EQ(loaded->trials[i].split->cuts, run.trials[i].split->cuts);
    }
  }
  EXPECT_EQ(loaded->options_json, run.options_json);
}

TEST_F(Store, KeepsEveryCutOfALongerChain) {
  const RunRecord run = test::synthetic_chain_sweep();
  put_all(*open(), run);
  const auto loaded = open()->load_run(run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(dump(to_json(*loaded)), dump(to_json(run)));
  EXPECT_EQ(loaded->trials[0].split->cuts, run.trials[0].split->cuts);
  EXPECT_EQ(loaded->trials[0].split->cuts.size(), 2U);
}

TEST_F(Store, KeepsPredictionsAndPutsAllTrialsAtOnce) {
  RunRecord run = test::synthetic_adaptive_sweep();
  run.trials[0].no_room = true;
  const auto store = open();
  ASSERT_TRUE(store->begin_run(run));
  ASSERT_TRUE(store->put_trials(run.id, run.trials));
  ASSERT_TRUE(store->put_trials(run.id, run.trials)) << "which replaces them";
  ASSERT_TRUE(store->update_run(run));
  const auto loaded = open()->load_run(run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(dump(to_json(*loaded)), dump(to_json(run)));
  ASSERT_TRUE(loaded->trials[0].prediction);
  EXPECT_EQ(loaded->trials[0].prediction->expected_latency_ms,
            run.trials[0].prediction->expected_latency_ms);
  EXPECT_EQ(loaded->trials[0].prediction->window, 4);
  EXPECT_TRUE(loaded->trials[0].no_room);
  EXPECT_FALSE(loaded->trials[1].no_room);
  const auto listed = open()->list_runs();
  ASSERT_TRUE(listed);
  EXPECT_EQ(status_of(listed->front().trials[0]), "predicted") << "without details";
}

TEST_F(Store, OfSeveralTrialsAllAreKeptOrNone) {
  RunRecord run = test::synthetic_adaptive_sweep();
  const auto store = open();
  EXPECT_FALSE(store->put_trials("no such run", run.trials));
  ASSERT_TRUE(store->begin_run(run));
  const auto loaded = store->load_run(run.id);
  ASSERT_TRUE(loaded);
  EXPECT_TRUE(loaded->trials.empty());
}

TEST_F(Store, ColumnsCanBeQueried) {
  const RunRecord run = test::synthetic_run();
  put_all(*open(), run);
  std::string best;
  double best_rate = 0;
  for (const TrialRecord& trial : run.trials) {
    if (trial.on_front && trial.throughput.samples_per_s > best_rate) {
      best = trial.id;
      best_rate = trial.throughput.samples_per_s;
    }
  }
  EXPECT_EQ(sql("SELECT id FROM trials WHERE on_front ORDER BY samples_per_s DESC LIMIT 1"), best);
  EXPECT_EQ(sql("SELECT count(*) FROM trials WHERE split IS NULL"), "8");
  EXPECT_EQ(sql("SELECT count(*) FROM trials WHERE status='failed' AND failure LIKE '%limit%'"),
            "1");
}

TEST_F(Store, ATrialPutAgainReplacesTheFirstInItsPlace) {
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 3});
  const auto store = open();
  put_all(*store, run);
  run.trials[1].status = TrialStatus::kFailed;
  run.trials[1].failure = "pi-2 does not answer";
  ASSERT_TRUE(store->put_trial(run, run.trials[1]));
  run.trials[2].status = TrialStatus::kSkipped;
  run.trials[2].failure = "network lte: 3 of 10 Mbit/s";
  ASSERT_TRUE(store->put_trials(run.id, {run.trials[2]}));
  const auto loaded = store->load_run(run.id);
  ASSERT_EQ(loaded->trials.size(), run.trials.size());
  EXPECT_EQ(loaded->trials[1].id, run.trials[1].id);
  EXPECT_EQ(loaded->trials[1].status, TrialStatus::kFailed);
  EXPECT_EQ(loaded->trials[1].failure, "pi-2 does not answer");
  EXPECT_EQ(loaded->trials[2].status, TrialStatus::kSkipped);
  EXPECT_EQ(loaded->trials[2].failure, "network lte: 3 of 10 Mbit/s");
}

TEST_F(Store, ATrialIsPutWithThePassesOfItsRun) {
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  run.passes.resize(1);
  const auto store = open();
  put_all(*store, run);
  run.passes.push_back({1, 16.9, 1.02, false, false, 12.5});
  ASSERT_TRUE(store->put_trial(run, run.trials[0]));
  const auto loaded = store->load_run(run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->passes.size(), 2U);
  EXPECT_TRUE(loaded->passes[0].whole);
  EXPECT_FALSE(loaded->passes[1].whole);
  EXPECT_EQ(loaded->passes[1].seconds, 12.5);
  // Neither where one of them cannot be put.
  run.id = "20260131-101502-none";
  EXPECT_FALSE(store->put_trial(run, run.trials[0]));
}

TEST_F(Store, FinishingMarksTheFrontAndTheEnd) {
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 4});
  const std::string finished = std::exchange(run.finished, "");
  for (TrialRecord& trial : run.trials) trial.on_front = false;
  const auto store = open();
  put_all(*store, run);
  EXPECT_EQ(store->load_run(run.id)->finished, "");
  run.finished = finished;
  run.trials[2].on_front = true;
  run.trials[2].p_front = 0.75;
  // What all trials together say moves the figures of each.
  run.trials[1].latency.p50_ms = 12.34;
  run.trials[1].latency.ci95_ms = {11, 14};
  run.trials[1].throughput.samples_per_s = 56.78;
  run.trials[1].throughput.ci95 = {50, 60};
  run.devices[1].weights_sent_bytes = 99;
  run.options_json = R"({"sweep":{"budget_s":3600}})";
  ASSERT_TRUE(store->update_run(run));
  const auto loaded = store->load_run(run.id);
  EXPECT_EQ(loaded->finished, finished);
  EXPECT_EQ(loaded->options_json, run.options_json) << "it may have gone on with others";
  EXPECT_EQ(loaded->devices[1].weights_sent_bytes, 99U);
  EXPECT_THAT(front_ids(*loaded), ElementsAre(run.trials[2].id));
  EXPECT_EQ(loaded->trials[2].p_front, 0.75);
  const TrialRecord& moved = loaded->trials[1];
  EXPECT_EQ(moved.latency.p50_ms, 12.34);
  EXPECT_EQ(moved.latency.ci95_ms.high, 14);
  EXPECT_EQ(moved.throughput.samples_per_s, 56.78);
  EXPECT_EQ(moved.throughput.ci95.low, 50);
  EXPECT_EQ(moved.latency.measured_p50_ms, run.trials[1].latency.measured_p50_ms);
}

TEST_F(Store, DevicesOfBeforeItWasKeptWhatTheyRunOn) {
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  run.devices[0].runs_on = "cuda:0";
  run.devices[0].cores = 4;
  put_all(*open(), run);
  auto loaded = open()->load_run(run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->devices[0].runs_on, "cuda:0");
  EXPECT_EQ(loaded->devices[0].cores, 4);
  sql("UPDATE runs SET devices='[{\"name\":\"pi-1\",\"address\":\"pi:7070\",\"threads\":1,"
      "\"cpu\":\"A72\",\"memory_bytes\":1,\"torch\":\"1.13.1\",\"weights_sent_bytes\":2}]'");
  loaded = open()->load_run(run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->devices.size(), 1U);
  EXPECT_EQ(loaded->devices[0].runs_on, "");
  EXPECT_EQ(loaded->devices[0].cores, 0);
}

TEST_F(Store, FindsRunsByIdBeginningAndLast) {
  const auto store = open();
  EXPECT_EQ(store->load_run("last").error().code, ErrorCode::kNotFound);
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  for (const char* id : {"20260131-101502-ab12", "20260131-101502-cd34", "20260202-080000-ef56"}) {
    run.id = id;
    put_all(*store, run);
  }
  EXPECT_EQ(store->load_run("last")->id, "20260202-080000-ef56");
  EXPECT_EQ(store->load_run("last~0")->id, "20260202-080000-ef56");
  EXPECT_EQ(store->load_run("last~1")->id, "20260131-101502-cd34");
  for (const char* none : {"last~99", "last~", "last~x", "last~-1", "lastly"}) {
    EXPECT_EQ(store->load_run(none).error().code, ErrorCode::kNotFound) << none;
  }
  EXPECT_EQ(store->load_run("20260131-101502-c")->id, "20260131-101502-cd34");
  EXPECT_EQ(store->load_run("20260131-101502-ab12")->id, "20260131-101502-ab12");
  EXPECT_EQ(store->load_run("20260131").error().code, ErrorCode::kInvalidArgument);
  const auto unknown = store->load_run("20260131-101502-ab13");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("20260131-101502-ab12"));
  EXPECT_FALSE(store->load_run("%"));
  const auto runs = store->list_runs();
  ASSERT_EQ(runs->size(), 3U);
  EXPECT_EQ(runs->front().id, "20260202-080000-ef56");
  EXPECT_EQ(runs->front().trials.size(), run.trials.size());
  EXPECT_TRUE(runs->front().trials.front().rounds.empty());
  EXPECT_FALSE(store->begin_run(run)) << "an id that is taken";
}

/// Stores runs of these ids, in this order.
void put_runs(ResultStore& store, std::initializer_list<const char*> ids) {
  RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  for (const char* id : ids) {
    run.id = id;
    put_all(store, run);
  }
}

TEST_F(Store, TheLastRunIsThatWhichWasStoredLastWhateverTheClockSaid) {
  const auto store = open();
  put_runs(*store, {"20260131-101502-ab12", "19700101-000012-cd34", "20251231-235959-ef56"});
  EXPECT_EQ(store->load_run("last")->id, "20251231-235959-ef56");
  EXPECT_EQ(store->load_run("last~1")->id, "19700101-000012-cd34");
  EXPECT_EQ(store->list_runs()->back().id, "20260131-101502-ab12");
  // A file of before runs had numbers goes by its trials, until and after it gets a new run.
  sql("ALTER TABLE runs DROP COLUMN number");
  EXPECT_EQ(open()->load_run("last")->id, "20251231-235959-ef56");
  EXPECT_EQ(open()->load_run("last~2")->id, "20260131-101502-ab12");
  put_runs(*open(), {"19700101-000044-aa11"});
  EXPECT_EQ(open()->load_run("last")->id, "19700101-000044-aa11");
  EXPECT_EQ(open()->load_run("last~1")->id, "20251231-235959-ef56");
  // An older build gives its runs no number.
  sql("UPDATE runs SET number=0 WHERE id LIKE '1970%'");
  EXPECT_EQ(open()->load_run("last")->id, "19700101-000044-aa11");
}

TEST_F(Store, RunsAreFoundByTheirNames) {
  const auto store = open();
  RunRecord named = test::synthetic_run({.batches = {1}, .split_points = 1});
  named.id = "20260131-101502-ab12";
  named.tag = "kitchen";
  put_all(*store, named);
  put_runs(*store, {"20260202-080000-ef56"});
  EXPECT_EQ(store->load_run("kitchen")->id, named.id);
  EXPECT_EQ(store->load_run("kitchen")->tag, "kitchen");
  EXPECT_EQ(store->find_run("2026013").value(), named.id);
  for (const char* bad : {"", "last", "2026", "a b", "-a", "a/b"}) {
    EXPECT_EQ(store->check_tag(bad).error().code, ErrorCode::kInvalidArgument) << bad;
  }
  EXPECT_TRUE(store->check_tag("attic"));
  EXPECT_THAT(store->check_tag("kitchen").error().message, HasSubstr(named.id));
  named.id = "20260203-080000-aa11";
  EXPECT_FALSE(store->begin_run(named)) << "two runs of one name";
  EXPECT_FALSE(store->tag_run("20260202-080000-ef56", "kitchen"));
  ASSERT_TRUE(store->tag_run("20260131-101502-ab12", ""));
  ASSERT_TRUE(store->tag_run("20260202-080000-ef56", "kitchen"));
  EXPECT_EQ(store->load_run("kitchen")->id, "20260202-080000-ef56");
  EXPECT_EQ(store->tag_run("nobody", "x").error().code, ErrorCode::kNotFound);
  // A file of before runs had names.
  sql("ALTER TABLE runs DROP COLUMN tag");
  EXPECT_EQ(open()->load_run("kitchen").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(open()->load_run("last")->tag, "");
  ASSERT_TRUE(open()->tag_run("20260131-101502-ab12", "attic"));
  EXPECT_EQ(open()->load_run("attic")->id, "20260131-101502-ab12");
}

TEST_F(Store, ARunIsRemovedWithItsTrials) {
  const auto store = open();
  put_runs(*store, {"20260131-101502-ab12", "20260202-080000-ef56"});
  const std::string before = sql("SELECT count(*) FROM trials");
  ASSERT_TRUE(store->remove_run("20260202-080000-ef56"));
  EXPECT_EQ(store->load_run("last")->id, "20260131-101502-ab12");
  EXPECT_EQ(std::stoi(sql("SELECT count(*) FROM trials")) * 2, std::stoi(before));
  EXPECT_EQ(store->remove_run("20260202-080000-ef56").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store->remove_run("2026").error().code, ErrorCode::kNotFound) << "ids are whole";
}

TEST_F(Store, WhoOnlyLooksMakesNothing) {
  const auto refused = [&] {
    const auto opened = ResultStore::open_existing(path());
    return !opened && opened.error().code == ErrorCode::kNotFound &&
           opened.error().message.find("results.db holds no run") != std::string::npos;
  };
  EXPECT_TRUE(refused());
  EXPECT_FALSE(std::filesystem::exists(path().parent_path()));
  std::filesystem::create_directories(path().parent_path());
  std::ofstream(path()).flush();
  EXPECT_TRUE(refused()) << "nor tables in an empty file";
  EXPECT_EQ(std::filesystem::file_size(path()), 0U);

  const RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  put_all(*open(), run);
  const auto looked = ResultStore::open_existing(path());
  ASSERT_TRUE(looked) << looked.error().message;
  EXPECT_EQ((*looked)->load_run("last")->id, run.id);
}

/// Another user, for as long as it lives.
class AsNobody {
 public:
  AsNobody() { EXPECT_EQ(::seteuid(65534), 0); }
  ~AsNobody() { EXPECT_EQ(::seteuid(0), 0); }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
};

TEST_F(Store, WhatAnotherUserKeptCanBeLookedAt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  namespace fs = std::filesystem;
  const RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  put_all(*open(), run);
  fs::permissions(folder_.path(), fs::perms(0755));
  fs::permissions(path().parent_path(), fs::perms(0755));
  fs::permissions(path(), fs::perms(0644));
  const AsNobody other;
  const auto looked = ResultStore::open_existing(path());
  ASSERT_TRUE(looked) << looked.error().message;
  EXPECT_EQ((*looked)->load_run("last")->id, run.id);
}

TEST_F(Store, SaysBeforehandThatNothingCanBeKept) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  namespace fs = std::filesystem;
  EXPECT_TRUE(open()->check_writable());
  fs::permissions(folder_.path(), fs::perms(0755));
  fs::permissions(path().parent_path(), fs::perms(0777));
  fs::permissions(path(), fs::perms(0644));
  const AsNobody other;
  const auto refused = open()->check_writable();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
  EXPECT_THAT(refused.error().message, HasSubstr("--store"));
}

TEST_F(Store, RefusesWhatIsNoResultsFile) {
  std::filesystem::create_directories(path().parent_path());
  std::ofstream(path()) << "hello, this is text and longer than a header of SQLite; "
                        << std::string(200, 'x');
  auto opened = ResultStore::open(path());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(opened.error().message, HasSubstr("results.db: not a results file"));

  std::filesystem::remove(path());
  sql("CREATE TABLE other (a)");
  opened = ResultStore::open(path());
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("not of results"));
  EXPECT_EQ(sql("SELECT count(*) FROM sqlite_master"), "1") << "left as it was";
}

TEST_F(Store, AFileOfBeforeCoordinatorsWereKeptGoesOn) {
  RunRecord old = test::synthetic_run({.batches = {1}, .split_points = 1});
  old.id = "20250131-101502-ab12";
  put_all(*open(), old);
  sql("ALTER TABLE runs DROP COLUMN coordinator");
  const auto store = open();
  const auto loaded = store->load_run(old.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_FALSE(loaded->coordinator);
  ASSERT_TRUE(store->update_run(*loaded)) << "it can be resumed";
  EXPECT_EQ(sql("SELECT count(*) FROM pragma_table_info('runs') WHERE name='coordinator'"), "0")
      << "who looks changes nothing";

  const RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  put_all(*store, run);
  EXPECT_FALSE(store->load_run(old.id)->coordinator);
  const auto fresh = store->load_run(run.id);
  ASSERT_TRUE(fresh) << fresh.error().message;
  ASSERT_TRUE(fresh->coordinator);
  EXPECT_EQ(fresh->coordinator->cpu, "AMD Ryzen 7 5800U");
  EXPECT_EQ(store->list_runs()->size(), 2U);
  // As an older build puts one.
  sql("INSERT INTO runs (id, model, model_digest, model_weight_bytes, started, finished, "
      "command_line, options, software_version, seed, devices, passes, note) VALUES ('older', 'm', "
      "'', 0, '', '', '', '{}', '', 1, '[]', '[]', '')");
  EXPECT_FALSE(store->load_run("older")->coordinator);
  sql("UPDATE runs SET coordinator='{' WHERE id='older'");
  EXPECT_EQ(store->load_run("older").error().code, ErrorCode::kCorrupt);
}

TEST_F(Store, RefusesAnotherVersionOfTheSchema) {
  open();
  sql("PRAGMA user_version=99");
  const auto opened = ResultStore::open(path());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(opened.error().message, HasSubstr("version 99"));
}

TEST_F(Store, ADamagedRunIsListedAndHidesNoOther) {
  RunRecord damaged = test::synthetic_run({.batches = {1}, .split_points = 1});
  damaged.id = "20250131-101502-ab12";
  const RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 2});
  put_all(*open(), damaged);
  put_all(*open(), run);
  for (const char* column : {"devices", "passes", "coordinator"}) {
    sql(std::string("UPDATE runs SET ") + column + "='[[' WHERE id='" + damaged.id + "'");
    const auto listed = open()->list_runs();
    ASSERT_TRUE(listed) << listed.error().message;
    ASSERT_EQ(listed->size(), 2U);
    EXPECT_EQ(listed->front().damage, "");
    EXPECT_EQ(listed->front().trials.size(), run.trials.size());
    EXPECT_NE(listed->back().damage, "") << column;
    EXPECT_EQ(listed->back().id, damaged.id);
    EXPECT_TRUE(open()->load_run(run.id));
    const auto loaded = open()->load_run(damaged.id);
    ASSERT_FALSE(loaded);
    EXPECT_THAT(loaded.error().message, HasSubstr("run " + damaged.id + ": it is damaged"));
  }
}

TEST_F(Store, SaysWhichDetailsAreDamaged) {
  const RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 2});
  put_all(*open(), run);
  for (const char* details : {"{", "{}", "[]", "{\"plan\":{}}"}) {
    sql("UPDATE trials SET details='" + std::string(details) + "' WHERE number=2");
    const auto loaded = open()->load_run(run.id);
    ASSERT_FALSE(loaded) << details;
    EXPECT_EQ(loaded.error().code == ErrorCode::kCorrupt ||
                  loaded.error().code == ErrorCode::kInvalidArgument,
              true);
    EXPECT_THAT(loaded.error().message, HasSubstr(run.trials[1].id));
  }
}

TEST_F(Store, PathsThatCannotBeOpened) {
  EXPECT_FALSE(ResultStore::open(folder_.path()));
  std::ofstream(folder_.path() / "file") << "x";
  EXPECT_FALSE(ResultStore::open(folder_.path() / "file" / "results.db"));
}

TEST_F(Store, AFullDiskStopsWritingAndLeavesTheFileReadable) {
  const RunRecord run = test::synthetic_run();
  // A limit on file sizes is the full disk of one process; a child keeps it from us.
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const auto store = ResultStore::open(path());
    if (!store || !(*store)->begin_run(run) || !(*store)->put_trial(run, run.trials[0])) {
      ::_exit(1);
    }
    const rlimit limit{200 << 10, 200 << 10};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(2);
    for (const TrialRecord& trial : run.trials) {
      const auto put = (*store)->put_trial(run, trial);
      if (put) continue;
      const bool told = put.error().code == ErrorCode::kExhausted &&
                        put.error().message.find("disk full") != std::string::npos;
      // The same connection reads on.
      const auto loaded = (*store)->load_run(run.id);
      ::_exit(!told ? 3 : loaded && !loaded->trials.empty() ? 0 : 4);
    }
    ::_exit(5);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const auto loaded = open()->load_run(run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_GE(loaded->trials.size(), 1U);
  EXPECT_LT(loaded->trials.size(), run.trials.size());
  for (std::size_t i = 0; i < loaded->trials.size(); ++i) {
    EXPECT_EQ(whole(loaded->trials[i]), whole(run.trials[i]));
  }
}

TEST_F(Store, AKilledWriterLeavesWholeRows) {
  RunRecord run = test::synthetic_run();
  int acknowledged[2];
  ASSERT_EQ(::pipe(acknowledged), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto store = ResultStore::open(path());
    if (!store || !(*store)->begin_run(run)) ::_exit(1);
    for (;;) {
      for (const TrialRecord& trial : run.trials) {
        if (!(*store)->put_trial(run, trial) || ::write(acknowledged[1], "x", 1) != 1) ::_exit(1);
      }
    }
  }
  ::close(acknowledged[1]);
  constexpr int kWaitFor = 20;
  char byte = 0;
  for (int i = 0; i < kWaitFor; ++i) ASSERT_EQ(::read(acknowledged[0], &byte, 1), 1);
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ::close(acknowledged[0]);
  const auto loaded = open()->load_run(run.id);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_GE(loaded->trials.size(), static_cast<std::size_t>(kWaitFor));
  for (std::size_t i = 0; i < loaded->trials.size(); ++i) {
    EXPECT_EQ(whole(loaded->trials[i]), whole(run.trials[i]));
  }
  EXPECT_EQ(sql("PRAGMA integrity_check"), "ok");
}

TEST_F(Store, AReaderMayLookWhileAWriterWrites) {
  const RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 3});
  const auto writer = open();
  ASSERT_TRUE(writer->begin_run(run));
  ASSERT_TRUE(writer->put_trial(run, run.trials[0]));
  EXPECT_EQ(open()->load_run("last")->trials.size(), 1U);
  ASSERT_TRUE(writer->put_trial(run, run.trials[1]));
  EXPECT_EQ(open()->load_run("last")->trials.size(), 2U);
}

}  // namespace
}  // namespace pareto::results
