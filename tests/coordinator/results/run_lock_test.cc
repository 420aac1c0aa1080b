#include "coordinator/results/run_lock.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "core/base/file.h"

namespace pareto::results {
namespace {

class RunLocks : public testing::Test {
 protected:
  RunLocks() : folder_(TemporaryFolder::create("run-lock").value()) {}
  bool taken(const std::string& run) const {
    const auto lock = RunLock::try_take(store(), run);
    EXPECT_TRUE(lock) << lock.error().message;
    return lock && !*lock;
  }
  std::filesystem::path store() const { return folder_.path() / "results.db"; }

  TemporaryFolder folder_;
};

TEST_F(RunLocks, ARunBelongsToOneUntilItLetsGo) {
  {
    const auto mine = RunLock::try_take(store(), "20260131-101502-ab12");
    ASSERT_TRUE(mine && *mine);
    EXPECT_TRUE(taken("20260131-101502-ab12"));
    EXPECT_TRUE(taken("20260131-101502-ab12")) << "asking frees nothing";
    EXPECT_FALSE(taken("20260131-101502-ab13"));
  }
  EXPECT_FALSE(taken("20260131-101502-ab12"));
  EXPECT_FALSE(std::filesystem::exists(store())) << "no results are made for it";
}

TEST_F(RunLocks, ResultsHaveOneLockHoweverTheyAreCalled) {
  std::ofstream(store()).flush();
  const std::filesystem::path link = folder_.path() / "link.db";
  std::filesystem::create_symlink(store(), link);
  const auto mine = RunLock::try_take(link, "run");
  ASSERT_TRUE(mine && *mine);
  EXPECT_TRUE(taken("run"));
}

TEST_F(RunLocks, AProcessThatIsKilledLetsGo) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto lock = RunLock::try_take(store(), "run");
    if (!lock || !*lock || ::write(ready[1], "x", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  ::close(ready[1]);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]);
  EXPECT_TRUE(taken("run"));
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_FALSE(taken("run"));
}

TEST_F(RunLocks, BesideAUsersResultsItIsTheUsers) {
  constexpr uid_t kUser = 1234;
  std::ofstream(store()).flush();
  if (::geteuid() != 0 || ::chown(store().c_str(), kUser, kUser) != 0) {
    GTEST_SKIP() << "only root has other users' files";
  }
  EXPECT_FALSE(taken("run"));
  struct stat lock {};
  ASSERT_EQ(::stat((store().string() + ".lock").c_str(), &lock), 0);
  EXPECT_EQ(lock.st_uid, kUser);
}

TEST_F(RunLocks, WithoutAFolderThereIsNone) {
  const auto lock = RunLock::try_take(folder_.path() / "absent" / "results.db", "run");
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace pareto::results
