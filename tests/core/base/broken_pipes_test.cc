#include "core/base/broken_pipes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace pareto {
namespace {

/// Returns errno of a write that nobody reads.
int write_to_nobody() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  ::close(ends[0]);
  const int number = ::write(ends[1], "x", 1) < 0 ? errno : 0;
  ::close(ends[1]);
  return number;
}

TEST(QuietBrokenPipes, FailWritesAndRaiseNothing) {
  {
    const QuietBrokenPipes quiet;
    EXPECT_EQ(write_to_nobody(), EPIPE);
    EXPECT_EQ(write_to_nobody(), EPIPE);
  }
  // A signal that still waited would have ended the process by now.
  sigset_t pending;
  ASSERT_EQ(::sigpending(&pending), 0);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
  EXPECT_EXIT(static_cast<void>(write_to_nobody()), testing::KilledBySignal(SIGPIPE), "")
      << "later writes are as they were";
}

}  // namespace
}  // namespace pareto
