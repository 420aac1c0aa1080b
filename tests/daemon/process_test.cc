// What main asks of the operating system.
#include "daemon/process.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace pareto::daemon {
namespace {

TEST(CheckThreads, ThereAreEnough) { EXPECT_TRUE(check_threads(8)); }

// Asks for more threads than its user may have; exits with 0 if it was told so.
void ask_for_more_threads_than_allowed() {
  // The limit is of a user, and root has none.
  constexpr int kNobody = 65534;
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

TEST(CheckThreads, ALimitIsSaid) {
  // A process that is started again has one thread. Under the thread sanitizer, the fork of a
  // process with several threads may not start threads.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ask_for_more_threads_than_allowed(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace pareto::daemon
