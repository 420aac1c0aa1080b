#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "partitioner/planning/search/search_strategy.h"

namespace pareto::search {
namespace {

TEST(BuiltinSearches, AreFoundByName) {
  for (const SearchStrategy* const strategy : builtin_searches()) {
    EXPECT_EQ(find_search(strategy->name()).value(), strategy);
  }
  const auto none = find_search("exakt");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(none.error().message, testing::HasSubstr("exact"));
}

TEST(BuiltinSearches, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const SearchStrategy* const strategy : builtin_searches()) names.insert(strategy->name());
  EXPECT_EQ(names.size(), builtin_searches().size());
  EXPECT_EQ(names.count(""), 0U);
}

TEST(BuiltinSearches, BeginWithTheOneToUse) {
  ASSERT_FALSE(builtin_searches().empty());
  EXPECT_EQ(builtin_searches().front()->name(), "exact");
}

}  // namespace
}  // namespace pareto::search
