#include "coordinator/cluster/line_channel.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/file.h"

namespace pareto::cluster {
namespace {

TEST(LineChannel, WhoAcceptsNobodyIsNotWaitedForWithoutEnd) {
  const auto folder = TemporaryFolder::create("line").value();
  const auto path = folder.path() / "socket";
  const auto listener = listen_at(path);
  ASSERT_TRUE(listener);
  std::vector<LineChannel> waiting;
  for (int i = 0; i < 100; ++i) {
    auto channel = connect_at(path);
    if (!channel) {
      EXPECT_EQ(channel.error().code, ErrorCode::kTimeout) << channel.error().message;
      EXPECT_FALSE(waiting.empty());
      return;
    }
    waiting.push_back(*std::move(channel));
  }
  FAIL() << "all connections were taken";
}

}  // namespace
}  // namespace pareto::cluster
