#include "daemon/control/socket_file.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <barrier>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/file.h"

namespace pareto::daemon {
namespace {

using testing::HasSubstr;

/// Leaves what a daemon that was killed leaves: a socket's file that nobody listens on.
void leave_behind(const std::string& file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  file.copy(address.sun_path, sizeof address.sun_path - 1);
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
}

TEST(SocketFiles, OfManyThatReplaceOneThatWasLeftBehindOneGetsIt) {
  constexpr int kRounds = 50;
  constexpr std::size_t kMany = 8;
  const auto folder = TemporaryFolder::create("pareto-socket");
  ASSERT_TRUE(folder) << folder.error().message;
  const std::filesystem::path file = folder->path() / "control";
  for (int round = 0; round < kRounds; ++round) {
    leave_behind(file.string());
    std::vector<std::optional<Expected<SocketFile>>> made(kMany);
    {
      std::barrier start(kMany);
      std::vector<std::jthread> threads;
      for (auto& one : made) {
        threads.emplace_back([&] {
          start.arrive_and_wait();
          one.emplace(SocketFile::listen(file));
        });
      }
    }
    EXPECT_EQ(std::ranges::count_if(made, [](const auto& one) { return one->has_value(); }), 1);
    for (const auto& one : made) {
      if (*one) continue;
      EXPECT_EQ(one->error().code, ErrorCode::kPermission);
      EXPECT_THAT(one->error().message, HasSubstr("another process listens there"));
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder->path())) << "a file or its lock is left";
}

TEST(SocketFiles, ALockThatWasLeftBehindIsTakenUp) {
  const auto folder = TemporaryFolder::create("pareto-socket");
  ASSERT_TRUE(folder) << folder.error().message;
  ASSERT_TRUE(write_file_atomically(folder->path() / "control.lock", ""));
  const auto made = SocketFile::listen(folder->path() / "control");
  EXPECT_TRUE(made) << made.error().message;
}

}  // namespace
}  // namespace pareto::daemon
