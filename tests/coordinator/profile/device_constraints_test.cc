// Limits of devices as constraints of plans.
#include "coordinator/profile/device_constraints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/support/fake_devices.h"

namespace pareto::profile {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

class DeviceConstraintsTest : public testing::Test {
 protected:
  DeviceConstraintsTest() {
    for (test::FakeDaemon* daemon : daemons_) daemon->set_cores(4);
    inputs_.boundary_bytes = {1, 1, 1};
    for (const int threads : {4, 2}) {
      planning::DeviceCosts costs;
      costs.compute = {milliseconds(0), milliseconds(10), milliseconds(40)};
      costs.enter = {milliseconds(0), milliseconds(2), milliseconds(0)};
      costs.overhead = milliseconds(1);
      costs.whole = milliseconds(38);
      costs.busy = costs;
      inputs_.devices.push_back(costs);
      devices_.emplace_back().profile.threads = threads;
    }
  }
  /// Returns the constraints that the cluster has by itself.
  DeviceConstraints own() const { return read_constraints(cluster_, "", "", "").value(); }

  test::MemoryTransport transport_;
  std::vector<test::FakeDaemon*> daemons_;
  const cluster::Cluster cluster_ =
      cluster::Cluster::of(test::fake_devices({"pi-1", "pi-2"}, transport_, daemons_));
  std::vector<planning::DeviceFacts> devices_;
  planning::CostInputs inputs_;
};

TEST_F(DeviceConstraintsTest, WithoutLimitsNothingChanges) {
  constrain(own(), devices_, inputs_);
  EXPECT_EQ(inputs_.devices[0].compute.back(), milliseconds(40));
  EXPECT_EQ(inputs_.devices[0].memory_limit_bytes, INT64_MAX);
}

TEST_F(DeviceConstraintsTest, WhatADeviceMayComputeLessItTakesLonger) {
  daemons_[0]->set_limits(0, 0.25);
  constrain(own(), devices_, inputs_);
  const planning::DeviceCosts& limited = inputs_.devices[0];
  EXPECT_THAT(limited.compute, ElementsAre(milliseconds(0), milliseconds(40), milliseconds(160)));
  EXPECT_EQ(limited.enter[1], milliseconds(8));
  EXPECT_EQ(limited.overhead, milliseconds(4));
  EXPECT_EQ(*limited.whole, milliseconds(152));
  EXPECT_EQ(limited.busy->compute.back(), milliseconds(160));
  EXPECT_EQ(inputs_.devices[1].compute.back(), milliseconds(40)) << "it has no limit";
}

TEST_F(DeviceConstraintsTest, AStageOfFewThreadsHasMoreOfTheTime) {
  // A quarter of 4 cores is one core: two threads take twice as long, not four times.
  daemons_[1]->set_limits(0, 0.25);
  constrain(own(), devices_, inputs_);
  EXPECT_EQ(inputs_.devices[1].compute.back(), milliseconds(80));
}

TEST_F(DeviceConstraintsTest, AShareOfTheCoresThatAreAllowed) {
  daemons_[1]->set_limits(2, 0.5);
  constrain(own(), devices_, inputs_);
  EXPECT_EQ(inputs_.devices[1].compute.back(), milliseconds(80));
}

TEST_F(DeviceConstraintsTest, AStageThatNeedsLessThanTheLimitIsNotStretched) {
  devices_[1].profile.threads = 1;
  daemons_[1]->set_limits(0, 0.5);
  constrain(own(), devices_, inputs_);
  EXPECT_EQ(inputs_.devices[1].compute.back(), milliseconds(40));
}

TEST_F(DeviceConstraintsTest, MemoryAndEndsAreOfNamedDevices) {
  const auto constraints = read_constraints(cluster_, "pi-2=1MiB", "pi-1", "pi-2");
  ASSERT_TRUE(constraints) << constraints.error().message;
  constrain(*constraints, devices_, inputs_);
  EXPECT_EQ(inputs_.devices[1].memory_limit_bytes, 1 << 20);
  EXPECT_FALSE(inputs_.devices[1].may_be_first);
  EXPECT_TRUE(inputs_.devices[1].may_be_last);
  const auto unknown = read_constraints(cluster_, "", "pi-3", "");
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("--first: no device \"pi-3\""));
}

}  // namespace
}  // namespace pareto::profile
