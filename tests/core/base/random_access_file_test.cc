#include "core/base/random_access_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "core/base/file.h"

namespace pareto {
namespace {

class RandomAccess : public testing::Test {
 protected:
  RandomAccess() : folder_(TemporaryFolder::create("random-access").value()) {}
  std::filesystem::path path() const { return folder_.path() / "file"; }
  TemporaryFolder folder_;
};

TEST_F(RandomAccess, PartsAreReadAnywhere) {
  ASSERT_TRUE(write_file_atomically(path(), std::string_view("0123456789")));
  const auto file = RandomAccessFile::open(path());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->size_bytes(), 10U);
  std::string part(3, ' ');
  ASSERT_TRUE(file->read(6, std::as_writable_bytes(std::span(part))));
  EXPECT_EQ(part, "678");
  const auto beyond = file->read(8, std::as_writable_bytes(std::span(part)));
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, ErrorCode::kCorrupt);
  EXPECT_NE(beyond.error().message.find(path().string()), std::string::npos);
}

TEST_F(RandomAccess, OnlyRegularFilesAreOpened) {
  EXPECT_EQ(RandomAccessFile::open(path()).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(RandomAccessFile::open(folder_.path()).error().code, ErrorCode::kInvalidArgument);
  // Nobody writes into this pipe: opening it must not wait.
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(RandomAccessFile::open(path()).error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace pareto
