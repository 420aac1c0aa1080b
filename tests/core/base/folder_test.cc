#include "core/base/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/file.h"

namespace pareto {
namespace {

namespace fs = std::filesystem;

TEST(Folder, TwoTradeTheirNames) {
  const TemporaryFolder folder = TemporaryFolder::create("trade").value();
  const fs::path one = folder.path() / "one";
  const fs::path other = folder.path() / "other";
  fs::create_directory(one);
  fs::create_directory(other);
  ASSERT_TRUE(write_file_atomically(one / "file", "of one"));
  ASSERT_TRUE(exchange_folders(one, other).value());
  EXPECT_EQ(read_file(other / "file").value(), "of one");
  EXPECT_TRUE(fs::is_empty(one));
  EXPECT_TRUE(flush_folder(folder.path()));
}

TEST(Folder, OneThatIsNotThereIsNamed) {
  const TemporaryFolder folder = TemporaryFolder::create("trade").value();
  const auto flushed = flush_folder(folder.path() / "none");
  ASSERT_FALSE(flushed);
  EXPECT_THAT(flushed.error().message, testing::HasSubstr("none"));
  const auto traded = exchange_folders(folder.path(), folder.path() / "none");
  ASSERT_FALSE(traded);
  EXPECT_THAT(traded.error().message, testing::HasSubstr("none"));
}

}  // namespace
}  // namespace pareto
