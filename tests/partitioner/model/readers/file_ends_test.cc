#include "partitioner/model/readers/file_ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "core/base/file.h"

namespace pareto::model {
namespace {

class ReadEnds : public testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::filesystem::path written(const std::string& bytes) const {
    EXPECT_TRUE(write_file_atomically(path("file"), bytes));
    return path("file");
  }
  Error refusal(const std::filesystem::path& file) const {
    const auto ends = read_ends(file);
    EXPECT_FALSE(ends) << file;
    return ends ? Error{} : ends.error();
  }

 private:
  TemporaryFolder folder_ = TemporaryFolder::create("pareto-ends").value();
};

TEST_F(ReadEnds, AShortFileIsAtBothEnds) {
  for (const std::string bytes : {"", "a", "PK\x03\x04 some bytes"}) {
    const auto ends = read_ends(written(bytes));
    ASSERT_TRUE(ends) << ends.error().message;
    EXPECT_EQ(ends->first, bytes);
    EXPECT_EQ(ends->last, bytes);
  }
}

TEST_F(ReadEnds, OfALongFileTheEndsOnly) {
  const std::string bytes =
      std::string(FileEnds::kMostBytes, 'a') + "middle" + std::string(FileEnds::kMostBytes, 'z');
  const auto ends = read_ends(written(bytes)).value();
  EXPECT_TRUE(ends.first == std::string(FileEnds::kMostBytes, 'a'));
  EXPECT_TRUE(ends.last == std::string(FileEnds::kMostBytes, 'z'));
}

TEST_F(ReadEnds, AHugeFileTakesNoMoreMemoryThanAnyOther) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 40;
  std::ofstream(path("huge")) << "begin";
  std::filesystem::resize_file(path("huge"), kHuge);
  {
    std::fstream file(path("huge"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(kHuge - 3));
    file << "end";
  }
  const auto ends = read_ends(path("huge"));
  ASSERT_TRUE(ends) << ends.error().message;
  EXPECT_EQ(ends->first.size(), FileEnds::kMostBytes);
  EXPECT_EQ(ends->last.size(), FileEnds::kMostBytes);
  EXPECT_TRUE(ends->first.starts_with("begin"));
  EXPECT_TRUE(ends->last.ends_with("end"));
}

TEST_F(ReadEnds, WhatIsNoFileIsNotOpened) {
  EXPECT_EQ(refusal(path("absent")).code, ErrorCode::kNotFound);
  EXPECT_EQ(refusal("").code, ErrorCode::kNotFound);
  const Error folder = refusal(path(""));
  EXPECT_EQ(folder.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(folder.message, testing::HasSubstr(path("").string() + ": not a file"));
  // Opening a pipe that nobody writes to would wait for ever.
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal(path("pipe")).code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(refusal("/dev/zero").code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace pareto::model
