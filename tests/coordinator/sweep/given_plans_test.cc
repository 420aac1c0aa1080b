#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "coordinator/sweep/sweep_plan.h"
#include "tests/coordinator/sweep/sweep_plan_fixture.h"

namespace pareto::sweep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class GivenPlansTest : public SweepPlanTest {
 protected:
  /// Returns the options of a sweep of plans, all of one cut.
  SweepOptions given(const std::vector<std::string>& names) {
    SweepOptions made;
    made.splits = "percent:50";
    made.transports = {"tcp"};
    const plan::Plan plan = plan_sweep(model_, cluster_, made).value().front().plan;
    SweepOptions options;
    for (const std::string& name : names) options.plans.push_back({name, plan});
    return options;
  }
};

TEST_F(GivenPlansTest, PlansAreTakenAsTheyStandUnderEveryCondition) {
  SweepOptions made;
  made.splits = "percent:50";
  made.transports = {"grpc"};
  made.batches = {2};
  made.codecs = {"int8"};
  SweepOptions options;
  options.plans = {{"mine", plan_sweep(model_, cluster_, made).value().front().plan}};
  std::swap(options.plans[0].plan.stages[0].device, options.plans[0].plan.stages[1].device);
  options.conditions = {"none", "/somewhere/lte.yaml"};
  const auto trials = plan_sweep(model_, cluster_, options).value();
  ASSERT_EQ(trials.size(), 2U);
  EXPECT_EQ(trials[0].id, "mine");
  EXPECT_EQ(trials[1].id, "mine/lte");
  for (const results::TrialRecord& trial : trials) {
    EXPECT_EQ(trial.plan, options.plans[0].plan);
    EXPECT_EQ(trial.name, "mine");
    EXPECT_EQ(trial.transport, "grpc");
    EXPECT_EQ(trial.codec, "int8");
    EXPECT_EQ(trial.batch, 2);
    EXPECT_EQ(trial.split->cuts.size(), 1U);
  }
  const SweepOptions back = sweep_options_from_json(to_json(options)).value();
  ASSERT_EQ(back.plans.size(), 1U);
  EXPECT_EQ(back.plans[0].name, "mine");
  EXPECT_EQ(back.plans[0].plan, options.plans[0].plan);
}

TEST_F(GivenPlansTest, ComeOneBehindTheOtherEachUnderAllConditions) {
  SweepOptions options = given({"first", "second"});
  options.conditions = {"/somewhere/lte.yaml", "none"};
  std::vector<std::string> ids;
  const auto trials = plan_given(model_, cluster_, options).value();
  for (const results::TrialRecord& trial : trials) ids.push_back(trial.id);
  EXPECT_THAT(ids, ElementsAre("first/lte", "first", "second/lte", "second"));
  options.plans.clear();
  EXPECT_TRUE(plan_given(model_, cluster_, options).value().empty());
}

TEST_F(GivenPlansTest, OneThatIsWrongIsNamedWhereverItStands) {
  for (std::size_t wrong = 0; wrong < 3; ++wrong) {
    SweepOptions options = given({"p0", "p1", "p2"});
    options.plans[wrong].plan.stages[1].device = "nowhere";
    const auto trials = plan_given(model_, cluster_, options);
    ASSERT_FALSE(trials) << wrong;
    const std::string name = options.plans[wrong].name;
    EXPECT_THAT(trials.error().message, AllOf(HasSubstr("plan " + name), HasSubstr("nowhere")));
    for (const char* other : {"p0", "p1", "p2"}) {
      if (other == name) continue;
      EXPECT_THAT(trials.error().message, Not(HasSubstr(other)));
    }
  }
}

TEST_F(GivenPlansTest, HaveTheirTransportsNamedAndTheirCodecsLeftOpen) {
  SweepOptions options = given({"mine"});
  options.plans[0].plan.transport = "auto";
  options.plans[0].plan.codecs = {"auto"};
  const auto trials = plan_given(model_, cluster_, options).value();
  ASSERT_EQ(trials.size(), 1U);
  EXPECT_EQ(trials[0].transport, "tcp") << "the devices are on no machine that is known";
  EXPECT_EQ(trials[0].plan.transport, "tcp");
  EXPECT_TRUE(trials[0].auto_codec);
  EXPECT_EQ(trials[0].codec, "auto");
  options.plans[0].plan.codecs = {"int8"};
  EXPECT_FALSE(plan_given(model_, cluster_, options).value()[0].auto_codec);
}

TEST_F(GivenPlansTest, OfOneDeviceHaveNoSplit) {
  SweepOptions options = given({"whole"});
  plan::Plan& plan = options.plans[0].plan;
  plan.stages = {{"d1", 0, plan.stages.back().end}};
  plan.splits.clear();
  const auto trials = plan_given(model_, cluster_, options);
  ASSERT_TRUE(trials) << trials.error().message;
  EXPECT_FALSE(trials->at(0).split);
  EXPECT_EQ(trials->at(0).id, "whole");
}

TEST_F(GivenPlansTest, TakeNothingFromTheOptionsOfOthers) {
  SweepOptions options = given({"mine"});
  const auto before = plan_given(model_, cluster_, options).value();
  options.batches = {64};
  options.micro_batches = {2};
  options.codecs = {"int8"};
  options.transports = {"grpc"};
  options.window = 9;
  options.settings.threads = 5;
  const auto after = plan_given(model_, cluster_, options).value();
  ASSERT_EQ(after.size(), before.size());
  EXPECT_EQ(after[0].plan, before[0].plan);
  EXPECT_EQ(after[0].batch, before[0].batch);
  EXPECT_EQ(after[0].codec, before[0].codec);
}

}  // namespace
}  // namespace pareto::sweep
