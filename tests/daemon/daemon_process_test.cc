// The real program: how it starts, what it says, and how it ends.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <vector>

#include "core/base/process_handle.h"
#include "tests/daemon/support/paretod_fixture.h"

namespace pareto::daemon {
namespace {

namespace v1 = control::v1;
using pareto::test::Finished;
using pareto::test::Process;
using pareto::test::run;
using test::ParetodTest;
using testing::HasSubstr;
using testing::StartsWith;

TEST_F(ParetodTest, SaysWhereItServesAndServesThere) {
  Process daemon(arguments());
  const auto line = ready(daemon);
  ASSERT_TRUE(line.is_object()) << daemon.output();
  EXPECT_EQ(line["pid"], daemon.pid());
  const auto control = line["control"].get<std::string>();
  EXPECT_THAT(control, StartsWith("127.0.0.1:"));
  v1::DescribeReply reply;
  const auto status = describe(control, reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.name(), "test-device");
  EXPECT_FALSE(reply.torch_version().empty());
  EXPECT_GT(reply.engines_size(), 0);
  ASSERT_EQ(reply.data_size(), 2);
  for (const auto& data : reply.data()) {
    EXPECT_EQ(line["data"][data.transport()], data.address());
    const auto transport = transport::make_transport(data.transport()).value();
    EXPECT_TRUE(transport->connect(data.address(), test::soon()));
  }
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(ParetodTest, EveryEndingSignalEndsItInOrder) {
  Process daemon(arguments());
  ready(daemon);
  daemon.signal(SIGINT);
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(ParetodTest, AStateFolderThatMayNotBeMadeHasARemedy) {
  // Nobody may make folders there, root included.
  const Finished refused = run({"paretod", "--listen", "127.0.0.1:0", "--data", "tcp=127.0.0.1:0",
                                "--state-dir", "/sys/pareto-test"});
  EXPECT_EQ(refused.exit_code, 3) << refused.errors;
  EXPECT_THAT(refused.errors, HasSubstr("/sys/pareto-test"));
  EXPECT_THAT(refused.errors, HasSubstr("--state-dir"));
}

TEST_F(ParetodTest, AStateFolderInUseIsTheEnvironmentsFault) {
  Process first(arguments());
  ready(first);
  const Finished second = run(arguments());
  EXPECT_EQ(second.exit_code, 3);
  EXPECT_THAT(second.errors, HasSubstr(path("state")));
  EXPECT_EQ(second.errors.find("--state-dir"), second.errors.rfind("--state-dir")) << "once";
}

TEST_F(ParetodTest, WrongFlagsAndConfigs) {
  std::ofstream(path("bad.yaml")) << "name: a\nmemory_limti: 1GiB\n";
  const Finished bad = run({"paretod", "--config", path("bad.yaml")});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.errors, HasSubstr("bad.yaml:2"));
  EXPECT_THAT(bad.errors, HasSubstr("memory_limit"));
  EXPECT_EQ(run({"paretod", "--config", path("absent.yaml")}).exit_code, 2);
  EXPECT_EQ(run({"paretod", "--lisen", "x"}).exit_code, 2);
  EXPECT_EQ(run(arguments({"--cpu", "1000"})).exit_code, 2);
  EXPECT_EQ(run({"paretod", "--check-config"}, {"PARETOD_THREADS=no"}).exit_code, 2);
  const Finished checked = run({"paretod", "--cpu", "1000", "--check-config"});
  EXPECT_EQ(checked.exit_code, 2) << "what a start refuses is not fine";
  EXPECT_THAT(checked.errors, HasSubstr("none of these cores may be used here: 1000"));
}

TEST_F(ParetodTest, SaysWhetherItImitatesAnotherDevice) {
  for (const bool imitates : {false, true}) {
    std::vector<std::string> command = arguments();
    if (imitates) command.insert(command.end(), {"--speed", "0.5"});
    Process daemon(command);
    const auto line = ready(daemon);
    v1::DescribeReply reply;
    ASSERT_TRUE(describe(line["control"], reply).ok());
    EXPECT_EQ(reply.imitated(), imitates);
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
  }
}

TEST_F(ParetodTest, CheckingStartsNothing) {
  const std::string config = PARETO_SOURCE_DIR "/configs/paretod.yaml";
  const Finished checked =
      run({"paretod", "--config", config, "--state-dir", path("never"), "--check-config"});
  EXPECT_EQ(checked.exit_code, 0) << checked.errors;
  EXPECT_FALSE(std::filesystem::exists(path("never")));
  EXPECT_EQ(run({"paretod", "--version"}).exit_code, 0);
  EXPECT_THAT(run({"paretod", "--help"}).output, HasSubstr("--exit-with-parent"));
}

TEST_F(ParetodTest, HangUpReadsTheConfigurationAgain) {
  std::ofstream(path("paretod.yaml")) << "memory_limit: 1GiB\nthreads: 1\n";
  Process daemon(arguments({"--config", path("paretod.yaml")}));
  const auto control = ready(daemon)["control"].get<std::string>();
  // What waits is said whatever else is not.
  std::ofstream(path("paretod.yaml")) << "memory_limit: 2GiB\nthreads: 2\nlog_level: warn\n";
  daemon.signal(SIGHUP);
  EXPECT_TRUE(daemon.wait_for_output("threads stays \"1\" until a restart")) << daemon.errors();
  v1::DescribeReply reply;
  ASSERT_TRUE(describe(control, reply).ok());
  EXPECT_EQ(reply.memory_limit_bytes(), std::uint64_t{2} << 30);
  std::ofstream(path("paretod.yaml")) << "memory_limit: lots\n";
  daemon.signal(SIGHUP);
  EXPECT_TRUE(daemon.wait_for_output("nothing is changed")) << daemon.errors();
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
}

TEST_F(ParetodTest, EndsWithItsParent) {
  std::string command = "\"" PARETO_BIN_DIR "/";
  for (const std::string& argument : arguments({"--exit-with-parent"})) {
    command += (command.back() == '/' ? "" : " \"") + argument + "\"";
  }
  // Not the shell's last command, which it would become instead of starting it.
  Process shell({"/bin/sh", "-c", command + "; true"});
  const auto line = ready(shell);
  const auto pid = line["pid"].get<pid_t>();
  ASSERT_NE(pid, shell.pid());
  const auto daemon = ProcessHandle::open(pid);
  ASSERT_TRUE(daemon) << daemon.error().message;
  shell.signal(SIGKILL);
  EXPECT_TRUE(daemon->wait_for_end(deadline_after(std::chrono::seconds(20))))
      << "it outlives its parent";
}

TEST_F(ParetodTest, WithoutAStandardDescriptorNothingElseTakesItsNumber) {
  struct Closed {
    int number;
    const char* redirection;
    const char* ready_fd;
  };
  for (const Closed& closed : {Closed{0, "<&-", "1"}, {1, ">&-", "2"}, {2, "2>&-", "1"}}) {
    std::string command = "exec \"" PARETO_BIN_DIR "/";
    auto words = arguments();
    words.back() = closed.ready_fd;
    for (const std::string& word : words) {
      command += (command.back() == '/' ? "" : " \"") + word + "\"";
    }
    Process daemon({"/bin/sh", "-c", fmt::format("{} {}", command, closed.redirection)});
    ASSERT_TRUE(daemon.wait_for_output("\"control\"")) << closed.number << daemon.errors();
    const std::string descriptor = fmt::format("/proc/{}/fd/{}", daemon.pid(), closed.number);
    EXPECT_EQ(std::filesystem::read_symlink(descriptor), "/dev/null") << closed.number;
    daemon.signal(SIGTERM);
    EXPECT_EQ(daemon.wait(), 0) << closed.number;
  }
}

TEST_F(ParetodTest, AReadyDescriptorThatIsNone) {
  auto list = arguments();
  list.back() = "99";
  const Finished finished = run(list);
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_THAT(finished.errors, HasSubstr("--ready-fd 99"));
}

}  // namespace
}  // namespace pareto::daemon
