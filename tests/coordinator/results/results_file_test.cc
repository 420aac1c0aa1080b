#include "coordinator/results/results_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>

#include "coordinator/results/store.h"
#include "tests/coordinator/results/store_fixture.h"
#include "tests/support/synthetic_run.h"

namespace pareto::results {
namespace {

using testing::HasSubstr;

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

/// The disk is too full for SQLite to make another file, for as long as it lives.
class NoNewFiles {
 public:
  NoNewFiles() { set(reinterpret_cast<sqlite3_syscall_ptr>(&open_existing)); }
  ~NoNewFiles() { set(nullptr); }
  NoNewFiles(const NoNewFiles&) = delete;
  NoNewFiles& operator=(const NoNewFiles&) = delete;

 private:
  static int open_existing(const char* path, int flags, int /*mode*/) {
    if ((flags & O_CREAT) == 0 || ::access(path, F_OK) == 0) return ::open(path, flags & ~O_CREAT);
    errno = ENOSPC;
    return -1;
  }
  static void set(sqlite3_syscall_ptr call) {
    sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
    EXPECT_EQ(system->xSetSystemCall(system, "open", call), SQLITE_OK);
  }
};

TEST_F(Store, SaysThatTheDiskMayBeTooFullForAFileNextToIt) {
  const RunRecord run = test::synthetic_run({.batches = {1}, .split_points = 1});
  put_all(*open(), run);
  const auto opened = [&] {
    const NoNewFiles full;
    return ResultStore::open(path());
  }();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kExhausted) << opened.error().message;
  EXPECT_THAT(opened.error().message, HasSubstr("its file system may be full"));
  EXPECT_THAT(opened.error().message, HasSubstr(path().string()));
  EXPECT_EQ(open()->load_run("last")->id, run.id);
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
