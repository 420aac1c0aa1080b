#include "partitioner/planning/outlook/choose.h"

#include <gmock/gmock.h>

namespace pareto::planning {
namespace {

using testing::HasSubstr;

FrontPoint point(std::int64_t latency_ms, int window) {
  FrontPoint point;
  point.point = {std::chrono::milliseconds(latency_ms), window};
  return point;
}

/// 100, 133 and 200 requests a second.
std::vector<FrontPoint> front() { return {point(10, 1), point(15, 2), point(40, 8)}; }

TEST(ChoosePlan, ByWhatIsPreferred) {
  EXPECT_EQ(choose_plan(front(), {}, Preference::kLatency, 1), 0U);
  EXPECT_EQ(choose_plan(front(), {}, Preference::kThroughput, 1), 2U);
  EXPECT_EQ(choose_plan(front(), {}, Preference::kBalanced, 1), 0U) << "10/100 against 15/133";
}

TEST(ChoosePlan, WithinLimits) {
  EXPECT_EQ(choose_plan(front(), {.latency_ms = 20}, Preference::kThroughput, 1), 1U);
  EXPECT_EQ(choose_plan(front(), {.samples_per_s = 120}, Preference::kLatency, 1), 1U);
  EXPECT_EQ(choose_plan(front(), {.samples_per_s = 1000}, Preference::kLatency, 8), 1U)
      << "samples, of batches of 8";
  EXPECT_EQ(choose_plan(front(), {.latency_ms = 9}, Preference::kLatency, 1), std::nullopt);
  EXPECT_EQ(choose_plan({}, {}, Preference::kLatency, 1), std::nullopt);
}

TEST(BeatenBy, NamesThePlanThatIsNoWorseInBoth) {
  EXPECT_EQ(beaten_by(front(), point(15, 2).point), std::nullopt) << "it is on the front";
  EXPECT_EQ(beaten_by(front(), point(16, 2).point), 1U);
  EXPECT_EQ(beaten_by(front(), point(20, 1).point), 0U);
  EXPECT_EQ(beaten_by(front(), point(16, 2).point, 0.1), std::nullopt) << "by less than a tenth";
  EXPECT_EQ(beaten_by(front(), point(5, 1).point), std::nullopt);
}

TEST(ChoosePlan, ByTheThirdObjective) {
  auto all = front();
  all[0].third = 7;
  all[1].third = 3;
  all[2].third = 5;
  EXPECT_EQ(choose_plan(all, {}, Preference::kThird, 1), 1U);
  EXPECT_EQ(choose_plan(all, {.samples_per_s = 150}, Preference::kThird, 1), 2U);
  EXPECT_EQ(beaten_by(all, point(16, 2).point, 0, 3), 1U);
  EXPECT_EQ(beaten_by(all, point(16, 2).point, 0, 2), std::nullopt) << "it has less of the third";
}

TEST(Preferences, OfAThirdObjectiveOnlyWhereThereIsOne) {
  EXPECT_EQ(parse_third("memory"), ThirdObjective::kMemory);
  EXPECT_EQ(parse_third(""), ThirdObjective::kNone);
  EXPECT_EQ(to_string(ThirdObjective::kLoss), "loss");
  EXPECT_THAT(parse_third("price").error().message, HasSubstr("energy, memory or loss"));
  EXPECT_EQ(parse_preference("memory", ThirdObjective::kMemory), Preference::kThird);
  EXPECT_EQ(parse_preference("latency", ThirdObjective::kMemory), Preference::kLatency);
  EXPECT_FALSE(parse_preference("memory", ThirdObjective::kEnergy));
  EXPECT_FALSE(parse_preference("memory"));
  EXPECT_FALSE(parse_preference(""));
}

TEST(Preferences, AreNamed) {
  EXPECT_EQ(parse_preference("throughput"), Preference::kThroughput);
  const auto none = parse_preference("cheap");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("balanced, latency or throughput"));
}

}  // namespace
}  // namespace pareto::planning
