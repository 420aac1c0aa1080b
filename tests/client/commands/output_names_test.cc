#include "client/commands/output_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace pareto::client::commands {
namespace {

TEST(OutputNames, NumberThoseThatAreAskedForAgain) {
  OutputNames names;
  EXPECT_EQ(names.take("photo"), "photo");
  EXPECT_EQ(names.take("photo"), "photo-2");
  EXPECT_EQ(names.take("other"), "other");
  EXPECT_EQ(names.take("photo"), "photo-3");
}

TEST(OutputNames, AreNotGivenTwiceIfARequestHasTheNameOfAResult) {
  OutputNames names;
  EXPECT_EQ(names.take("photo-2"), "photo-2");
  EXPECT_EQ(names.take("photo"), "photo");
  EXPECT_EQ(names.take("photo"), "photo-2-2");
  EXPECT_EQ(names.take("photo"), "photo-3");
  EXPECT_EQ(names.take("photo-3"), "photo-3-2");
}

TEST(OutputNames, OfNumbersThatAreNoneOfItsOwnAreOrdinary) {
  OutputNames names;
  EXPECT_EQ(names.take("a"), "a");
  EXPECT_EQ(names.take("a"), "a-2");
  EXPECT_EQ(names.take("a-02"), "a-02");
  EXPECT_EQ(names.take("a-1"), "a-1");
  EXPECT_EQ(names.take("a-"), "a-");
  EXPECT_EQ(names.take("-2"), "-2");
  EXPECT_EQ(names.take("a-2x"), "a-2x");
  EXPECT_EQ(names.take("a-99999999999999999999"), "a-99999999999999999999");
}

TEST(OutputNames, AreUsedByTheNextIfTheyAreGivenBack) {
  OutputNames names;
  EXPECT_EQ(names.take("photo"), "photo");
  EXPECT_EQ(names.take("photo"), "photo-2");
  names.give_back("photo");
  EXPECT_EQ(names.take("photo-2"), "photo-2");
  EXPECT_EQ(names.take("photo"), "photo-2-2");
}

TEST(OutputNames, NeverRepeatWhateverIsAskedFor) {
  const std::vector<std::string> stems = {"a", "a-2", "a-2-2", "a-3", "a-10", "b", "b-2"};
  std::mt19937 dice(1);
  OutputNames names;
  std::set<std::string> given;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = names.take(stems[dice() % stems.size()]);
    EXPECT_TRUE(given.insert(name).second) << name;
  }
}

TEST(OutputNames, OfAStreamThatRepeatsItsStemsTakeNoMoreMemoryWithTime) {
  OutputNames names;
  for (int i = 0; i < 10'000; ++i) names.take(fmt::format("f{}", i % 4));
  EXPECT_EQ(names.remembered(), 4U);
  EXPECT_EQ(names.take("f0"), "f0-2501");
}

}  // namespace
}  // namespace pareto::client::commands
