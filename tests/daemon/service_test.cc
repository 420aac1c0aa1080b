// The real program as a service: what it reports to NOTIFY_SOCKET.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tests/daemon/support/paretod_fixture.h"
#include "tests/support/notify_socket.h"

namespace pareto::daemon {
namespace {

using pareto::test::NotifySocket;
using pareto::test::Process;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Service : public test::ParetodTest {
 protected:
  void configure(const std::string& text) const { std::ofstream(path("paretod.yaml")) << text; }
  std::vector<std::string> configured() const {
    return arguments({"--config", path("paretod.yaml")});
  }

  NotifySocket socket_;
};

/// The one thread of a process whose id is the process's own, its main thread, stopped while the
/// others go on.
class MainThreadStopped {
 public:
  explicit MainThreadStopped(pid_t process) : process_(process) {
    if (::ptrace(PTRACE_SEIZE, process, nullptr, nullptr) != 0) {
      failure_ = std::strerror(errno);
      return;
    }
    ::ptrace(PTRACE_INTERRUPT, process, nullptr, nullptr);
    int status = 0;
    if (::waitpid(process, &status, __WALL) != process || !WIFSTOPPED(status)) {
      failure_ = "it did not stop";
    }
  }
  ~MainThreadStopped() { ::ptrace(PTRACE_DETACH, process_, nullptr, nullptr); }
  MainThreadStopped(const MainThreadStopped&) = delete;
  MainThreadStopped& operator=(const MainThreadStopped&) = delete;

  const std::string& failure() const { return failure_; }

 private:
  const pid_t process_;
  std::string failure_;
};

/// Returns the number after "NAME=" in a message; 0 where there is none.
std::int64_t number_in(const std::string& message, const std::string& name) {
  const std::size_t at = ("\n" + message).find("\n" + name + "=");
  return at == std::string::npos ? 0 : std::atoll(message.c_str() + at + name.size() + 1);
}

std::int64_t monotonic_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

TEST_F(Service, SaysWhenItServesAndWhenItStops) {
  Process daemon(arguments({"--drain-timeout", "7s"}), {socket_.variable()});
  const std::string message = socket_.receive();
  const std::string control = ready(daemon)["control"];
  EXPECT_THAT(message, StartsWith("READY=1\nSTATUS=test-device serves at " + control + ", tcp "));
  daemon.signal(SIGTERM);
  // No watchdog was asked for: nothing in between.
  const std::string last = socket_.receive();
  EXPECT_THAT(last, AllOf(StartsWith("STOPPING=1\n"), HasSubstr("STATUS=")));
  EXPECT_EQ(number_in(last, "EXTEND_TIMEOUT_USEC"), 12'000'000) << "the drain's time and grace";
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
  EXPECT_EQ(socket_.receive(std::chrono::milliseconds(0)), "");
}

TEST_F(Service, SaysWhenItReadsItsConfigurationAgain) {
  configure("log_level: info\nthreads: 1\n");
  Process daemon(configured(), {socket_.variable()});
  EXPECT_THAT(socket_.receive(), StartsWith("READY=1\n"));
  configure("log_level: debug\nthreads: 2\n");
  const std::int64_t before = monotonic_us();
  daemon.signal(SIGHUP);
  const std::string reloading = socket_.receive();
  EXPECT_THAT(reloading, StartsWith("RELOADING=1\n"));
  EXPECT_GE(number_in(reloading, "MONOTONIC_USEC"), before);
  EXPECT_LE(number_in(reloading, "MONOTONIC_USEC"), monotonic_us());
  EXPECT_THAT(socket_.receive(), StartsWith("READY=1\nSTATUS=test-device serves at "));
  EXPECT_THAT(daemon.errors(), AllOf(HasSubstr("log_level is \"debug\" now (was \"info\")"),
                                     HasSubstr("threads stays \"1\" until a restart")));
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait(), 0);
}

TEST_F(Service, ServesOnWithTheOldConfigurationWhereTheNewOneIsBroken) {
  configure("drain_timeout: 3s\n");
  Process daemon(configured(), {socket_.variable()});
  EXPECT_THAT(socket_.receive(), StartsWith("READY=1\n"));
  configure("drain_timeout: 4s\nlog_levle: debug\n");
  daemon.signal(SIGHUP);
  EXPECT_THAT(socket_.receive(), StartsWith("RELOADING=1\n"));
  EXPECT_THAT(socket_.receive(), StartsWith("READY=1\n"));
  EXPECT_THAT(daemon.errors(), AllOf(HasSubstr("nothing is changed"), HasSubstr("paretod.yaml:2"),
                                     HasSubstr("log_level")));
  daemon.signal(SIGTERM);
  EXPECT_EQ(number_in(socket_.receive(), "EXTEND_TIMEOUT_USEC"), 8'000'000) << "3 s and grace";
  EXPECT_EQ(daemon.wait(), 0);
}

TEST_F(Service, ItsMainLoopFeedsTheWatchdogAndNothingElseDoes) {
  Process daemon(arguments(), {socket_.variable(), "WATCHDOG_USEC=100000"});
  EXPECT_THAT(socket_.receive_with("READY=1"), Not(""));
  for (int i = 0; i < 3; ++i) EXPECT_THAT(socket_.receive(), StartsWith("WATCHDOG=1\nSTATUS="));
  {
    const MainThreadStopped stopped(daemon.pid());
    if (!stopped.failure().empty()) GTEST_SKIP() << "no ptrace here: " << stopped.failure();
    socket_.drop_waiting();
    control::v1::DescribeReply reply;
    EXPECT_TRUE(describe(ready(daemon)["control"], reply).ok()) << "other threads have stopped too";
    // Twenty times what a main loop that runs would let pass.
    EXPECT_EQ(socket_.receive(std::chrono::seconds(1)), "");
  }
  EXPECT_THAT(socket_.receive(), StartsWith("WATCHDOG=1\n"));
  daemon.signal(SIGTERM);
  EXPECT_THAT(socket_.receive_with("STOPPING=1"), Not(""));
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(Service, TheWatchdogIsFedOnlyWhileTheControlPortAnswers) {
  Process daemon(arguments(), {socket_.variable(), "WATCHDOG_USEC=400000"});
  EXPECT_THAT(socket_.receive_with("WATCHDOG=1"), Not(""));
  rlimit before{};
  ASSERT_EQ(::prlimit(daemon.pid(), RLIMIT_NOFILE, nullptr, &before), 0);
  // Below what is open: it can connect to nothing, not to itself either.
  const rlimit few{4, before.rlim_max};
  ASSERT_EQ(::prlimit(daemon.pid(), RLIMIT_NOFILE, &few, nullptr), 0);
  EXPECT_TRUE(daemon.wait_for_output("does not answer")) << daemon.errors();
  socket_.drop_waiting();
  // Several times what one that answers would let pass.
  EXPECT_EQ(socket_.receive(std::chrono::seconds(1)), "");
  ASSERT_EQ(::prlimit(daemon.pid(), RLIMIT_NOFILE, &before, nullptr), 0);
  EXPECT_THAT(socket_.receive(), StartsWith("WATCHDOG=1\n"));
  daemon.signal(SIGTERM);
  EXPECT_THAT(socket_.receive_with("STOPPING=1"), Not(""));
  EXPECT_EQ(daemon.wait(), 0) << daemon.errors();
}

TEST_F(Service, AWatchdogOfAnotherProcessIsNotFed) {
  Process daemon(arguments(), {socket_.variable(), "WATCHDOG_USEC=1000", "WATCHDOG_PID=1"});
  EXPECT_THAT(socket_.receive(), StartsWith("READY=1\n"));
  daemon.signal(SIGTERM);
  EXPECT_THAT(socket_.receive(), StartsWith("STOPPING=1\n"));
  EXPECT_EQ(daemon.wait(), 0);
}

}  // namespace
}  // namespace pareto::daemon
