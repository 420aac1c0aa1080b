#include "client/commands/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/file.h"

namespace pareto::client {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Flags, ABudgetIsOfSecondsMinutesOrHours) {
  EXPECT_EQ(parse_budget("90s").value(), 90);
  EXPECT_EQ(parse_budget("5m").value(), 300);
  EXPECT_EQ(parse_budget("5min").value(), 300);
  EXPECT_EQ(parse_budget("1.5h").value(), 5400);
  for (const char* text : {"", "5", "soon", "m", "-5m"}) {
    EXPECT_THAT(parse_budget(text).error().message, HasSubstr("--budget")) << text;
  }
  for (const char* text : {"0s", "0m", "0h"}) {
    EXPECT_THAT(parse_budget(text).error().message, HasSubstr("leaves no time")) << text;
  }
}

TEST(Flags, TwoFilesOfOneNameAreRefused) {
  const auto folder = TemporaryFolder::create("pareto-flags");
  ASSERT_TRUE(folder);
  std::vector<std::string> files;
  for (const char* place : {"a", "b"}) {
    std::filesystem::create_directory(folder->path() / place);
    files.push_back(folder->path() / place / "lte.yaml");
    ASSERT_TRUE(write_file_atomically(files.back(), "delay: 50ms\n"));
  }
  EXPECT_TRUE(read_conditions("none," + files[0]));
  const auto both = read_conditions(files[0] + "," + files[1]);
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, AllOf(HasSubstr(files[0]), HasSubstr(files[1])));
}

}  // namespace
}  // namespace pareto::client
