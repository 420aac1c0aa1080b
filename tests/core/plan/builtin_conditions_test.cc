#include "core/plan/builtin_conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "core/base/file.h"

namespace pareto::plan {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(BuiltinConditions, AreTheFilesOfConfigs) {
  std::set<std::string> files;
  const std::filesystem::path folder = std::filesystem::path(PARETO_SOURCE_DIR) / "configs/network";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().stem();
    files.insert(name);
    const auto by_name = open_condition(name);
    ASSERT_TRUE(by_name) << by_name.error().message;
    EXPECT_EQ(*by_name, read_condition(entry.path()).value()) << name;
  }
  std::set<std::string> names;
  for (const BuiltinCondition& one : builtin_conditions()) names.insert(one.name);
  EXPECT_EQ(names, files);
  EXPECT_TRUE(names.contains("wifi"));
}

TEST(BuiltinConditions, WhatIsNoNameIsAFile) {
  const auto folder = TemporaryFolder::create("conditions").value();
  ASSERT_TRUE(write_file_atomically(folder.path() / "own.yaml", "delay: 7ms\n"));
  const auto own = open_condition("own.yaml", folder.path());
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->forward.delay, std::chrono::milliseconds(7));
  const auto slip = open_condition("wfi");
  ASSERT_FALSE(slip);
  EXPECT_EQ(slip.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(slip.error().message, AllOf(HasSubstr("did you mean wifi"), HasSubstr("satellite")));
  EXPECT_THAT(open_condition("wfi.yaml").error().message, Not(HasSubstr("did you mean")));
  EXPECT_THAT(open_condition("lte.yaml").error().message,
              HasSubstr("no such file: lte.yaml; \"lte\" alone is a network of this program"));
}

}  // namespace
}  // namespace pareto::plan
