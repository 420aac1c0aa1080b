#include "coordinator/sweep/lost_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/support/fake_devices.h"

namespace pareto::sweep {
namespace {

class LostDevicesTest : public testing::Test {
 protected:
  static plan::Plan plan_on(const std::vector<std::string>& devices) {
    plan::Plan plan;
    for (const std::string& device : devices) plan.stages.push_back({device, 0, 1});
    return plan;
  }

  test::MemoryTransport transport_;
  std::vector<test::FakeDaemon*> daemons_;
  const cluster::Cluster cluster_ =
      cluster::Cluster::of(test::fake_devices({"a", "b"}, transport_, daemons_));
  LostDevices lost_{cluster_};
};

TEST_F(LostDevicesTest, ADeviceThatAnswersIsNotLost) {
  lost_.look_for({"a", "b"}, ErrorCode::kClosed);
  EXPECT_FALSE(lost_.any());
  EXPECT_EQ(lost_.loss_of(plan_on({"a", "b"})), nullptr);
}

TEST_F(LostDevicesTest, OnlyPlansOfTheLostDeviceLoseIt) {
  daemons_[1]->die();
  EXPECT_THAT(lost_.look_for({"a", "b"}, ErrorCode::kClosed), testing::ElementsAre("b"));
  EXPECT_THAT(lost_.look_for({"b"}, ErrorCode::kClosed), testing::IsEmpty()) << "known";
  EXPECT_TRUE(lost_.any());
  EXPECT_FALSE(lost_.all());
  EXPECT_EQ(lost_.loss_of(plan_on({"a"})), nullptr);
  ASSERT_NE(lost_.loss_of(plan_on({"a", "b"})), nullptr);
  EXPECT_EQ(lost_.loss_of(plan_on({"a", "b"}))->code, ErrorCode::kUnavailable);
  daemons_[0]->die();
  EXPECT_FALSE(lost_.all()) << "nobody has asked";
  lost_.look_for({"a"}, ErrorCode::kTimeout);
  EXPECT_TRUE(lost_.all());
}

TEST_F(LostDevicesTest, NobodyIsAskedAfterAnErrorThatIsNoLoss) {
  daemons_[1]->die();
  for (const ErrorCode code : {ErrorCode::kExhausted, ErrorCode::kCorrupt,
                               ErrorCode::kInvalidArgument, ErrorCode::kNotFound}) {
    lost_.look_for({"b"}, code);
    EXPECT_FALSE(lost_.any());
  }
  lost_.look_for({"elsewhere", "b"}, ErrorCode::kInternal);
  EXPECT_TRUE(lost_.any()) << "a device that the cluster has not is passed over";
}

}  // namespace
}  // namespace pareto::sweep
