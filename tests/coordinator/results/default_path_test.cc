// Where results are kept unless one says where.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "coordinator/results/store.h"

namespace pareto::results {
namespace {

TEST(DefaultPath, FollowsTheEnvironment) {
  EXPECT_EQ(ResultStore::default_path("/data", "/home/a"), "/data/pareto-edge/results.db");
  EXPECT_EQ(ResultStore::default_path(nullptr, "/home/a"),
            "/home/a/.local/share/pareto-edge/results.db");
  EXPECT_EQ(ResultStore::default_path("", "/home/a"),
            "/home/a/.local/share/pareto-edge/results.db");
  EXPECT_EQ(ResultStore::default_path(nullptr, nullptr).filename(), "results.db");
}

TEST(DefaultPath, IsThereWhateverTmpdirNames) {
  const char* set = std::getenv("TMPDIR");
  const std::optional<std::string> before =
      set != nullptr ? std::optional<std::string>(set) : std::nullopt;
  ::setenv("TMPDIR", "/no/such/folder", 1);
  EXPECT_EQ(ResultStore::default_path(nullptr, nullptr), "/tmp/pareto-edge/results.db");
  if (before) {
    ::setenv("TMPDIR", before->c_str(), 1);
  } else {
    ::unsetenv("TMPDIR");
  }
}

}  // namespace
}  // namespace pareto::results
