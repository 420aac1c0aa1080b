#include "core/base/process_handle.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pareto {
namespace {

/// A child that does nothing until it is ended.
class ProcessHandleTest : public testing::Test {
 protected:
  ProcessHandleTest() : child_(::fork()) {
    if (child_ != 0) return;
    for (;;) ::pause();
  }
  ~ProcessHandleTest() override { reap(); }

  void reap() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }

  pid_t child_;
};

TEST_F(ProcessHandleTest, WaitsUntilItHasEnded) {
  const auto process = ProcessHandle::open(child_);
  ASSERT_TRUE(process) << process.error().message;
  const auto runs = process->wait_for_end(std::chrono::steady_clock::now());
  ASSERT_FALSE(runs);
  EXPECT_EQ(runs.error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(process->signal(SIGTERM));
  EXPECT_TRUE(process->wait_for_end({}));
  EXPECT_TRUE(process->wait_for_end({})) << "it has ended for good";
}

TEST_F(ProcessHandleTest, AStopEndsTheWait) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const FileDescriptor stop(ends[0]);
  FileDescriptor writing(ends[1]);
  const auto process = ProcessHandle::open(child_).value();
  ASSERT_EQ(::write(writing.get(), "x", 1), 1);
  const auto stopped = process.wait_for_end({}, stop.get());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kClosed);
  // A process that has ended stays ended, even if somebody stops it.
  ASSERT_TRUE(process.signal(SIGKILL));
  ASSERT_TRUE(process.wait_for_end({}));
  EXPECT_TRUE(process.wait_for_end({}, stop.get()));
}

TEST_F(ProcessHandleTest, MeansTheOneThatWasThere) {
  const pid_t number = child_;
  const auto process = ProcessHandle::open(number).value();
  reap();
  EXPECT_TRUE(process.signal(SIGKILL)) << "nobody is left to be signalled";
  EXPECT_TRUE(process.wait_for_end({}));
  const auto gone = ProcessHandle::open(number);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace pareto
