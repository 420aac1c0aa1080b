#include "coordinator/cluster/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "core/base/file.h"

namespace pareto::cluster {
namespace {

using testing::HasSubstr;

class ChildProcessTest : public testing::Test {
 protected:
  /// Starts a shell running `script`; it answers on descriptor 3.
  Expected<ChildProcess> shell(const std::string& script) {
    return ChildProcess::start("/bin/sh", {"-c", script}, folder_.path() / "log");
  }
  TemporaryFolder folder_ = TemporaryFolder::create("process-test").value();
};

TEST_F(ChildProcessTest, IsReadyByItsWordAndEndsWithItsOwner) {
  pid_t pid = 0;
  {
    ChildProcess child = shell("echo '{\"control\":\"here\"}' >&3; exec sleep 600").value();
    pid = child.pid();
    EXPECT_EQ(child.wait_ready(deadline_after(std::chrono::seconds(20))).value(),
              "{\"control\":\"here\"}");
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

TEST_F(ChildProcessTest, OneThatEndsBeforeSaysWhy) {
  ChildProcess child = shell("echo 'address already in use' >&2; exit 3").value();
  const auto ready = child.wait_ready(deadline_after(std::chrono::seconds(20)));
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(ready.error().message, HasSubstr("address already in use"));
}

TEST_F(ChildProcessTest, ASilentOneIsNotWaitedForForEver) {
  ChildProcess child = shell("exec sleep 600").value();
  const auto ready = child.wait_ready(deadline_after(std::chrono::milliseconds(50)));
  ASSERT_FALSE(ready);
  EXPECT_EQ(ready.error().code, ErrorCode::kTimeout);
}

TEST_F(ChildProcessTest, AProgramThatDoesNotExistIsNamed) {
  const auto child = ChildProcess::start("/no/such/paretod", {}, folder_.path() / "log");
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(child.error().message, HasSubstr("/no/such/paretod"));
}

}  // namespace
}  // namespace pareto::cluster
