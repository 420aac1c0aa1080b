#include "core/tls/watched_files.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "core/base/bounded_queue.h"
#include "core/base/file.h"

namespace pareto::tls {
namespace {

TEST(WatchedFilesTest, WhatIsInUseIsThereWhileFilesAreRead) {
  const auto folder = TemporaryFolder::create("watched-files").value();
  const std::string path = folder.path() / "file";
  WatchedFiles<int> files({path});
  EXPECT_EQ(files.in_use(), nullptr);
  ASSERT_TRUE(files.refresh([] { return Expected<int>(1); }).value());
  std::ofstream(path) << "changed";
  // A file system that does not answer, such as one of a server that is gone.
  BoundedQueue<int> asked(1);
  BoundedQueue<int> answers(1);
  std::jthread refreshes([&] {
    EXPECT_TRUE(files.refresh([&] {
      static_cast<void>(asked.push(0));
      return Expected<int>(answers.pop().value());
    }));
  });
  EXPECT_TRUE(asked.pop(deadline_after(std::chrono::seconds(30))));
  EXPECT_EQ(*files.in_use(), 1);
  ASSERT_TRUE(answers.push(2));
  refreshes.join();
  EXPECT_EQ(*files.in_use(), 2);
}

}  // namespace
}  // namespace pareto::tls
