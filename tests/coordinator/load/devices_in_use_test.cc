// Who may use a device, and when its client may be replaced.
#include "coordinator/load/devices_in_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace pareto::load {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DevicesInUse, ADeviceThatIsLostIsUsedByNobodyNew) {
  DevicesInUse devices;
  devices.give_up("b");
  const auto both = UseOfDevices::begin(devices, {"a", "b"});
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(both.error().message, HasSubstr("b: it is lost"));
  // Nothing is used after a failure.
  devices.give_up("a");
  EXPECT_TRUE(devices.begin_replacing("a"));
  EXPECT_THAT(devices.given_up(), ElementsAre("a", "b"));
}

TEST(DevicesInUse, AClientIsReplacedOnlyWhenNobodyUsesIt) {
  DevicesInUse devices;
  EXPECT_FALSE(devices.begin_replacing("a")) << "it is not lost";
  {
    auto use = UseOfDevices::begin(devices, {"a"}).value();
    const UseOfDevices moved = std::move(use);
    devices.give_up("a");
    EXPECT_FALSE(devices.begin_replacing("a"));
  }
  EXPECT_TRUE(devices.begin_replacing("a"));
  EXPECT_FALSE(devices.begin_replacing("a")) << "another one does it";
  EXPECT_FALSE(UseOfDevices::begin(devices, {"a"}));
  devices.end_replacing("a", false);
  EXPECT_TRUE(devices.is_given_up("a"));
  EXPECT_TRUE(devices.begin_replacing("a"));
  devices.end_replacing("a", true);
  EXPECT_FALSE(devices.is_given_up("a"));
  EXPECT_TRUE(UseOfDevices::begin(devices, {"a"}));
}

}  // namespace
}  // namespace pareto::load
