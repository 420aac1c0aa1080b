// Pipelines of a stream, if devices of their plan are lost.
#include "coordinator/failover/failover_opener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "tests/coordinator/load/scripted_pipelines.h"
#include "tests/coordinator/support/fake_devices.h"
#include "tests/coordinator/support/fake_workload.h"

namespace pareto::failover {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Names = std::vector<std::string>;

constexpr std::chrono::seconds kAnswering{1};

plan::Plan plan_over(const Names& devices) {
  plan::Plan plan;
  for (const std::string& name : devices) {
    const auto begin = static_cast<std::int64_t>(plan.stages.size());
    plan.stages.push_back({name, begin, begin + 1});
  }
  return plan;
}

/// Three devices. Plans are made over those that are not lost, as they stand here.
class FailoverOpenerTest : public testing::Test {
 protected:
  /// Opens pipelines of a plan whose devices all answer.
  class Opener final : public load::PipelineOpener {
   public:
    Opener(FailoverOpenerTest& test, Names devices) : test_(test), devices_(std::move(devices)) {}
    Expected<std::unique_ptr<load::StreamPipeline>> open() override {
      test_.opened_.push_back(devices_);
      if (test_.broken_) return tl::unexpected(*test_.broken_);
      for (const std::string& name : devices_) {
        if (test_.cluster_.find(name).value()->status(kAnswering)) continue;
        test_.devices_.give_up(name);
        return fail(ErrorCode::kUnavailable, "{}: it is lost", name);
      }
      return std::make_unique<load::EchoPipeline>(load::Script{}, nullptr, nullptr);
    }
    void hurry() override { test_.hurried_.push_back(devices_); }

   private:
    FailoverOpenerTest& test_;
    const Names devices_;
  };

  FailoverOpener opener(const Names& devices) {
    return {plan_over(devices),
            {"a", "b", "c"},
            [this](const std::set<std::string>& lost) { return plan_without(lost); },
            cluster_,
            pool_,
            devices_,
            [this](const plan::Plan& plan) {
              return std::make_unique<Opener>(*this, plan.device_names());
            },
            [this](const plan::Plan& plan, const std::set<std::string>&) {
              announced_.push_back(plan.device_names());
            }};
  }
  Expected<plan::Plan> plan_without(const std::set<std::string>& lost) {
    asked_.push_back(lost);
    if (on_planning_) on_planning_();
    Names left;
    for (const std::string name : {"a", "b", "c"}) {
      if (!lost.contains(name)) left.push_back(name);
    }
    if (left.empty()) return fail(ErrorCode::kNotFound, "no device is left");
    return plan_over(left);
  }

  test::FakeWorkload workload_;
  test::MemoryTransport transport_;
  std::vector<test::FakeDaemon*> daemons_;
  cluster::Cluster cluster_ =
      cluster::Cluster::of(test::fake_devices({"a", "b", "c"}, transport_, daemons_));
  cluster::ShardPool pool_{workload_};
  load::DevicesInUse devices_;
  std::optional<Error> broken_;  ///< no pipeline can be opened, though all devices answer
  std::function<void()> on_planning_;
  std::vector<Names> opened_;     ///< devices of each pipeline that was tried
  std::vector<Names> announced_;  ///< devices of each plan that took over
  std::vector<Names> hurried_;
  std::vector<std::set<std::string>> asked_;  ///< lost devices, as plans were asked for
};

TEST_F(FailoverOpenerTest, APlanWhoseDevicesAreThereStays) {
  FailoverOpener opener = this->opener({"a", "b"});
  EXPECT_TRUE(opener.open());
  EXPECT_TRUE(opener.open());
  EXPECT_THAT(opened_, ElementsAre(Names{"a", "b"}, Names{"a", "b"}));
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(FailoverOpenerTest, TheFirstPipelineIsThatOfThePlanOrNone) {
  daemons_[1]->die();
  FailoverOpener opener = this->opener({"a", "b"});
  const auto pipeline = opener.open();
  ASSERT_FALSE(pipeline);
  EXPECT_EQ(pipeline.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(FailoverOpenerTest, OthersTakeOverFromADeviceThatIsLost) {
  FailoverOpener opener = this->opener({"a", "b"});
  ASSERT_TRUE(opener.open());
  daemons_[1]->die();
  const auto pipeline = opener.open();
  ASSERT_TRUE(pipeline) << pipeline.error().message;
  EXPECT_THAT(announced_, ElementsAre(Names{"a", "c"}));
  // The device that was lost is not tried first again.
  opened_.clear();
  EXPECT_TRUE(opener.open());
  EXPECT_THAT(opened_, ElementsAre(Names{"a", "c"}));
}

TEST_F(FailoverOpenerTest, OneDeviceIsEnough) {
  FailoverOpener opener = this->opener({"a", "b"});
  ASSERT_TRUE(opener.open());
  daemons_[0]->die();
  daemons_[1]->die();
  ASSERT_TRUE(opener.open());
  EXPECT_THAT(announced_, ElementsAre(Names{"c"}));
}

TEST_F(FailoverOpenerTest, OneThatIsLostTooIsNotPlannedWith) {
  FailoverOpener opener = this->opener({"a", "b"});
  ASSERT_TRUE(opener.open());
  daemons_[1]->die();
  daemons_[2]->die();
  ASSERT_TRUE(opener.open());
  EXPECT_THAT(asked_, ElementsAre(std::set<std::string>{"b", "c"}));
  EXPECT_THAT(announced_, ElementsAre(Names{"a"}));
  // Nobody waits for its answers any more.
  EXPECT_TRUE(daemons_[2]->is_abandoned());
}

TEST_F(FailoverOpenerTest, ThePlanStaysIfOnlyADeviceThatItDoesNotUseIsLost) {
  FailoverOpener opener = this->opener({"a", "b"});
  ASSERT_TRUE(opener.open());
  daemons_[2]->die();
  broken_ = Error{ErrorCode::kExhausted, "a: no room for the shard"};
  const auto pipeline = opener.open();
  ASSERT_FALSE(pipeline);
  // Another plan would not help against it.
  EXPECT_EQ(pipeline.error().message, "a: no room for the shard");
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(FailoverOpenerTest, WithoutAnyDeviceItSaysWhatWasLostAndThatNoneIsLeft) {
  FailoverOpener opener = this->opener({"a", "b"});
  ASSERT_TRUE(opener.open());
  for (test::FakeDaemon* daemon : daemons_) daemon->die();
  const auto pipeline = opener.open();
  ASSERT_FALSE(pipeline);
  EXPECT_EQ(pipeline.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(pipeline.error().message, HasSubstr("a: it is lost"));
  EXPECT_THAT(pipeline.error().message, HasSubstr("planning without a, b, c: no device is left"));
}

TEST_F(FailoverOpenerTest, NothingTakesOverOnceNobodyWaits) {
  FailoverOpener opener = this->opener({"a", "b"});
  ASSERT_TRUE(opener.open());
  daemons_[1]->die();
  on_planning_ = [&opener] { opener.hurry(); };
  EXPECT_FALSE(opener.open());
  EXPECT_THAT(hurried_, ElementsAre(Names{"a", "b"}));
  EXPECT_THAT(announced_, IsEmpty());
  EXPECT_THAT(opened_.back(), (Names{"a", "b"}));
}

}  // namespace
}  // namespace pareto::failover
