// The cores and threads that the real program takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/base/control_group.h"
#include "core/base/file.h"
#include "tests/daemon/support/paretod_fixture.h"

namespace pareto::daemon {
namespace {

namespace v1 = control::v1;
using pareto::test::Finished;
using pareto::test::Process;
using pareto::test::run;
using test::ParetodTest;
using testing::HasSubstr;

TEST_F(ParetodTest, CoresAreThoseNamedForAllItsThreads) {
  const Finished absent = run(arguments({"--cpu", "0,1000"}));
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_THAT(absent.errors, HasSubstr("may not be used here: 1000"));
  Process daemon(arguments({"--cpu", "0", "--threads", "2"}));
  ready(daemon);
  int threads = 0;
  const std::filesystem::path tasks = "/proc/" + std::to_string(daemon.pid()) + "/task";
  for (const auto& thread : std::filesystem::directory_iterator(tasks)) {
    const auto status = read_file(thread.path() / "status", 1 << 20);
    if (!status) continue;  // it has ended
    EXPECT_THAT(*status, HasSubstr("\nCpus_allowed_list:\t0\n"));
    ++threads;
  }
  EXPECT_GT(threads, 1);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

/// A control group below this process's own that may take one core's time; nothing if there can be
/// none here.
class OneCoreGroup {
 public:
  OneCoreGroup() {
    const auto tree = find_controller("cpu");
    if (!tree) return;
    const auto group =
        own_control_group(*tree, "cpu") / ("paretod-test-" + std::to_string(::getpid()));
    std::error_code error;
    if (!std::filesystem::create_directory(group, error)) return;
    folder_ = group;
    const bool first = tree->version == 1;
    std::ofstream limit(group / (first ? "cpu.cfs_quota_us" : "cpu.max"));
    exists_ = static_cast<bool>(limit << (first ? "100000" : "100000 100000") << std::flush);
  }
  ~OneCoreGroup() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove(folder_, ignored);
  }
  OneCoreGroup(const OneCoreGroup&) = delete;
  OneCoreGroup& operator=(const OneCoreGroup&) = delete;

  bool exists() const { return exists_; }
  std::string folder() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
  bool exists_ = false;
};

TEST_F(ParetodTest, ACpuQuotaIsToldAndBoundsItsThreads) {
  const OneCoreGroup group;
  if (!group.exists()) GTEST_SKIP() << "no control group with a CPU quota can be made here";
  std::vector<std::string> command{"/bin/sh", "-c", "echo $$ > \"$0\"/cgroup.procs && exec \"$@\"",
                                   group.folder()};
  const auto daemons = arguments();
  command.push_back(PARETO_BIN_DIR "/paretod");
  command.insert(command.end(), daemons.begin() + 1, daemons.end());
  Process daemon(command);
  const auto line = ready(daemon);
  v1::DescribeReply reply;
  ASSERT_TRUE(describe(line["control"], reply).ok());
  EXPECT_DOUBLE_EQ(reply.cpu_quota(), 1);
  EXPECT_EQ(reply.threads(), 1U);
  EXPECT_THAT(reply.cpu(), HasSubstr(", CPU quota 1")) << "profiles of it are others'";
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(ParetodTest, WithoutANumberItsThreadsAreAllItsCores) {
  Process daemon(arguments());
  const auto line = ready(daemon);
  v1::DescribeReply reply;
  ASSERT_TRUE(describe(line["control"], reply).ok());
  if (reply.cpu_quota() == 0) {
    EXPECT_EQ(reply.threads(), reply.cores());
  }
}

}  // namespace
}  // namespace pareto::daemon
