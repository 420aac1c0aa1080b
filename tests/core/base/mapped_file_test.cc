#include "core/base/mapped_file.h"

#include <gmock/gmock.h>

#include <utility>

#include "core/base/file.h"

namespace pareto {
namespace {

using testing::HasSubstr;

class MappedFileTest : public testing::Test {
 protected:
  std::filesystem::path path(const char* name) const { return folder_.path() / name; }

  TemporaryFolder folder_ = TemporaryFolder::create("pareto-mapped").value();
};

TEST_F(MappedFileTest, HoldsTheFileAndKeepsWhatIsWrittenToItself) {
  ASSERT_TRUE(write_file_atomically(path("one"), std::string_view("some text")));
  auto opened = MappedFile::open(path("one"));
  ASSERT_TRUE(opened) << opened.error().message;
  const MappedFile file = std::move(*opened);
  EXPECT_EQ(file.text(), "some text");
  file.bytes().front() = std::byte{'S'};
  EXPECT_EQ(file.text(), "Some text");
  EXPECT_EQ(read_file(path("one")).value(), "some text");
}

TEST_F(MappedFileTest, AnEmptyFileHasNoBytes) {
  ASSERT_TRUE(write_file_atomically(path("none"), std::string_view()));
  const auto file = MappedFile::open(path("none"));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->text(), "");
}

TEST_F(MappedFileTest, WhatIsNoFileIsNamed) {
  const auto absent = MappedFile::open(path("absent"));
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(absent.error().message, HasSubstr("absent"));
  const auto folder = MappedFile::open(folder_.path());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace pareto
