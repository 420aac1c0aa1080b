#include "partitioner/planning/outlook/choose.h"

#include <gmock/gmock.h>

#include "tests/support/objectives.h"

namespace pareto::planning {
namespace {

using testing::HasSubstr;

constexpr Preference kBalanced{Preference::Kind::kBalanced};
constexpr Preference kLatency{Preference::Kind::kLatency};
constexpr Preference kThroughput{Preference::Kind::kThroughput};

search::FrontPoint point(std::int64_t latency_ms, int window) {
  search::FrontPoint point;
  point.point = {std::chrono::milliseconds(latency_ms), window};
  return point;
}

/// 100, 133 and 200 requests a second.
std::vector<search::FrontPoint> front() { return {point(10, 1), point(15, 2), point(40, 8)}; }

TEST(ChoosePlan, ByWhatIsPreferred) {
  EXPECT_EQ(choose_plan(front(), {}, kLatency, 1), 0U);
  EXPECT_EQ(choose_plan(front(), {}, kThroughput, 1), 2U);
  EXPECT_EQ(choose_plan(front(), {}, kBalanced, 1), 0U) << "10/100 against 15/133";
}

TEST(ChoosePlan, WithinLimits) {
  EXPECT_EQ(choose_plan(front(), {.latency_ms = 20}, kThroughput, 1), 1U);
  EXPECT_EQ(choose_plan(front(), {.samples_per_s = 120}, kLatency, 1), 1U);
  EXPECT_EQ(choose_plan(front(), {.samples_per_s = 1000}, kLatency, 8), 1U)
      << "samples, of batches of 8";
  EXPECT_EQ(choose_plan(front(), {.latency_ms = 9}, kLatency, 1), std::nullopt);
  EXPECT_EQ(choose_plan({}, {}, kLatency, 1), std::nullopt);
}

TEST(BeatenBy, NamesThePlanThatIsNoWorseInBoth) {
  EXPECT_EQ(beaten_by(front(), point(15, 2).point), std::nullopt) << "it is on the front";
  EXPECT_EQ(beaten_by(front(), point(16, 2).point), 1U);
  EXPECT_EQ(beaten_by(front(), point(20, 1).point), 0U);
  EXPECT_EQ(beaten_by(front(), point(16, 2).point, 0.1), std::nullopt) << "by less than a tenth";
  EXPECT_EQ(beaten_by(front(), point(5, 1).point), std::nullopt);
}

TEST(ChoosePlan, ByAnotherObjective) {
  auto all = front();
  all[0].also = {1, 7};
  all[1].also = {2, 3};
  all[2].also = {3, 5};
  const Preference second{Preference::Kind::kAlso, 1};
  EXPECT_EQ(choose_plan(all, {}, second, 1), 1U);
  EXPECT_EQ(choose_plan(all, {.samples_per_s = 150}, second, 1), 2U);
  EXPECT_EQ(beaten_by(all, point(16, 2).point, 0, {2, 3}), 1U);
  EXPECT_EQ(beaten_by(all, point(16, 2).point, 0, {2, 2}), std::nullopt) << "it has less of one";
}

TEST(Preferences, OfOtherObjectivesOnlyIfTheyAreNamed) {
  const search::AlsoObjectives both{&test::objective("memory"), &test::objective("energy")};
  EXPECT_EQ(parse_also("memory,energy"), both);
  EXPECT_EQ(parse_also(""), search::AlsoObjectives());
  EXPECT_THAT(parse_also("memory,price").error().message,
              testing::AllOf(HasSubstr("--also"), HasSubstr("\"price\""), HasSubstr("cost")));
  EXPECT_THAT(parse_also("memory,memory").error().message, HasSubstr("twice"));
  EXPECT_FALSE(parse_also("latency")) << "it is searched by always";
  EXPECT_EQ(parse_preference("energy", both), (Preference{Preference::Kind::kAlso, 1}));
  EXPECT_EQ(parse_preference("latency", both), kLatency);
  EXPECT_FALSE(parse_preference("cost", both));
  EXPECT_FALSE(parse_preference("memory"));
  EXPECT_FALSE(parse_preference(""));
}

TEST(Preferences, AreNamed) {
  EXPECT_EQ(parse_preference("throughput"), kThroughput);
  const auto none = parse_preference("cheap");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("balanced, latency or throughput"));
}

}  // namespace
}  // namespace pareto::planning
