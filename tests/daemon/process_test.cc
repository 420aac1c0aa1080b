// What main asks of the operating system.
#include "daemon/process.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pareto::daemon {
namespace {

TEST(CheckThreads, ThereAreEnough) { EXPECT_TRUE(check_threads(8)); }

TEST(CheckThreads, ALimitIsSaid) {
  // The limit is of a user, and root has none.
  constexpr int kNobody = 65534;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::geteuid() == 0 && (::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) ::_exit(2);
    const rlimit few{2, 2};
    if (::setrlimit(RLIMIT_NPROC, &few) != 0) ::_exit(3);
    const auto enough = check_threads(64);
    if (enough) ::_exit(4);
    ::_exit(enough.error().code == ErrorCode::kExhausted &&
                    enough.error().message.find("ulimit -u") != std::string::npos
                ? 0
                : 5);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace pareto::daemon
