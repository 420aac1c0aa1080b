// Ctrl-C while a device hangs: every command that asks devices answers with a sentence and ends.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <csignal>

#include "core/base/file_descriptor.h"
#include "tests/e2e/fixture.h"

namespace pareto::test {
namespace {

using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;

constexpr int kEndedBySignal = 128 + SIGINT;
constexpr int kPatienceMs = 120'000;

/// A device whose system takes connections, and whose daemon says nothing.
class SilentDevice {
 public:
  SilentDevice() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_.get(), generic, size), 0);
    EXPECT_EQ(::listen(socket_.get(), 8), 0);
    EXPECT_EQ(::getsockname(socket_.get(), generic, &size), 0);
    address_ = fmt::format("127.0.0.1:{}", ntohs(address.sin_port));
  }
  const std::string& address() const { return address_; }
  bool wait_for_connection() const {
    pollfd one{socket_.get(), POLLIN, 0};
    return ::poll(&one, 1, kPatienceMs) == 1;
  }

 private:
  FileDescriptor socket_;
  std::string address_;
};

/// A command, and how Ctrl-C ends it.
struct Interruption {
  const char* command;
  std::vector<std::string> flags;
  const char* early;  ///< its sentence before its devices are connected
  /// Sentence that it prints once it asks them; empty: it always ends at once.
  const char* working = "";
  int exit_code = 0;  ///< exit code from then on, if a device hangs
};

std::ostream& operator<<(std::ostream& out, const Interruption& one) { return out << one.command; }

class Interrupted : public EndToEnd, public testing::WithParamInterface<Interruption> {
 protected:
  /// Starts the command with that second device.
  std::unique_ptr<Process> start(const std::string& second) const {
    const Interruption& one = GetParam();
    std::vector<std::string> arguments{
        "paretoctl", one.command, "--devices",
        inventory({{"local-0", first_.address()}, {"local-1", second}})};
    arguments.insert(arguments.end(), one.flags.begin(), one.flags.end());
    if (std::string(one.command) == "deploy") {
      arguments.insert(arguments.end(), {"--plan", plan()});
    }
    const auto model = small_model();
    arguments.insert(arguments.end(), model.begin(), model.end());
    return std::make_unique<Process>(arguments);
  }

 private:
  /// Writes a plan for devices of these names, without asking these.
  std::string plan() const {
    std::vector<std::string> run{"run", "--split",     "after:features.3", "--requests",
                                 "1",   "--save-plan", path("plan.json")};
    const auto model = small_model();
    run.insert(run.end(), model.begin(), model.end());
    const auto done = paretoctl(run);
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    return path("plan.json");
  }

  Daemon first_{"local-0", folder()};
};

TEST_P(Interrupted, LeavesAtOnceWhileADeviceDoesNotAnswerAtFirst) {
  const SilentDevice silent;
  const auto process = start(silent.address());
  ASSERT_TRUE(silent.wait_for_connection()) << process->errors();
  process->signal(SIGINT);
  EXPECT_EQ(process->wait(), kEndedBySignal) << process->errors();
  EXPECT_THAT(process->errors(), HasSubstr(GetParam().early));
}

/// Says what is kept of profiles: after a step that ended, or instead of one that takes long.
constexpr const char* kKept =
    "\nparetoctl: stopped(: | while [^\n]*: )complete profiles of devices are kept, and not "
    "measured again\n";

/// Once it works with its devices.
class InterruptedAtWork : public Interrupted {};

TEST_P(InterruptedAtWork, DoesNotWaitForADeviceThatHangs) {
  Daemon second("local-1", folder());
  const auto process = start(second.address());
  ASSERT_TRUE(process->wait_for_output(GetParam().working)) << process->errors();
  second.process().signal(SIGSTOP);
  process->signal(SIGINT);
  EXPECT_EQ(process->wait(), GetParam().exit_code) << process->errors();
  EXPECT_THAT(process->errors(),
              HasSubstr("stopping after what is being measured; again to leave now"));
  const std::string hangs =
      fmt::format("local-1 ({}) does not answer, and is not waited for", second.address());
  if (std::string_view(GetParam().working).starts_with("profiling")) {
    // Who stops before local-1 is asked for anything does not learn that it hangs.
    EXPECT_THAT(process->errors(), AnyOf(HasSubstr(hangs), ContainsRegex(kKept)));
  } else {
    EXPECT_THAT(process->errors(), HasSubstr(hangs));
  }
}

/// The same, but all devices answer.
class StoppedAtWork : public Interrupted {};

TEST_P(StoppedAtWork, SaysOnceWhatIsKept) {
  const Daemon second("local-1", folder());
  const auto process = start(second.address());
  ASSERT_TRUE(process->wait_for_output(GetParam().working)) << process->errors();
  process->signal(SIGINT);
  EXPECT_EQ(process->wait(), GetParam().exit_code) << process->errors();
  EXPECT_THAT(process->errors(), ContainsRegex(kKept));
}

constexpr const char* kEarly = "stopped before anything was measured";
const Interruption kSweep{
    "sweep", {"--exhaustive", "--report", "none"}, kEarly, "loading shard", 4};
const Interruption kPlan{"plan", {"--splits", "percent:50"}, kEarly, "profiling 2 devices", 1};
const Interruption kProfile{
    "profile", {"--splits", "percent:50"}, kEarly, "profiling 2 devices", 1};
const Interruption kPredict{"sweep",
                            {"--adaptive", "--splits", "percent:50", "--report", "none"},
                            kEarly,
                            "profiling 2 devices",
                            1};
const Interruption kRun{"run",
                        {"--split", "after:features.3"},
                        "stopped before the run was done: no figures are kept of it",
                        "",
                        0};
const Interruption kDeploy{"deploy", {}, "stopped before it was ready", "", 0};

std::string name_of(const testing::TestParamInfo<Interruption>& one) { return one.param.command; }

INSTANTIATE_TEST_SUITE_P(Commands, Interrupted,
                         testing::Values(kSweep, kPlan, kProfile, kRun, kDeploy), name_of);
INSTANTIATE_TEST_SUITE_P(Commands, InterruptedAtWork, testing::Values(kSweep, kPlan, kProfile),
                         name_of);

INSTANTIATE_TEST_SUITE_P(Commands, StoppedAtWork, testing::Values(kPlan, kProfile, kPredict),
                         name_of);

class InterruptedAlone : public EndToEnd {};

TEST_F(InterruptedAlone, VerifySaysThatItDidNotEnd) {
  std::vector<std::string> arguments{"paretoctl", "verify"};
  for (const std::string& word : small_model()) arguments.push_back(word);
  Process process(arguments);
  ASSERT_TRUE(process.wait_for_output("verifying, engine plain")) << process.errors();
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), kEndedBySignal) << process.errors();
  EXPECT_THAT(process.errors(), HasSubstr("stopped before all split points were compared"));
}

}  // namespace
}  // namespace pareto::test
