#include "core/plan/varied_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Plan plan_with(int threads, const std::string& schedule) {
  Plan plan;
  plan.stages = {{"a", 0, 1}, {"b", 1, 2}};
  plan.settings.threads = threads;
  plan.settings.schedule = schedule;
  return plan;
}

TEST(VariedSettings, AreThoseThatPlansDifferIn) {
  const Plan one = plan_with(1, kSequential);
  const Plan two = plan_with(2, kSequential);
  const Plan clusters = plan_with(2, "clusters");
  EXPECT_FALSE(VariedSettings().any());
  EXPECT_FALSE(VariedSettings(std::vector<const Plan*>{}).any());
  EXPECT_FALSE(VariedSettings({&two, &two}).any());
  EXPECT_THAT(VariedSettings({&one, &two}).names(), ElementsAre("threads"));
  EXPECT_THAT(VariedSettings({&two, &two, &clusters}).names(), ElementsAre("schedule"));
  const VariedSettings both({&one, &two, &clusters});
  EXPECT_THAT(both.names(), ElementsAre("threads", "schedule"));
  EXPECT_THAT(both.texts(clusters), ElementsAre("2", "clusters"));
  EXPECT_EQ(both.sentence(one), "threads 1, schedule sequential");
  EXPECT_THAT(VariedSettings().texts(one), IsEmpty());
  EXPECT_EQ(VariedSettings().sentence(one), "");
}

TEST(VariedSettings, StagesThatDifferAreNamedOneByOne) {
  const Plan alike = plan_with(1, kSequential);
  Plan mixed = alike;
  mixed.stages[1].settings = StageSettings{"auto", "fp32", 2, 0, "clusters"};
  const VariedSettings varied({&alike, &mixed});
  EXPECT_THAT(varied.texts(mixed), ElementsAre("1+2", "sequential+clusters"));
}

}  // namespace
}  // namespace pareto::plan
