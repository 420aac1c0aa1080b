// The few figures of a machine that a coordinator is told.
#include "daemon/metrics/machine_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "tests/daemon/support/fake_board.h"

namespace pareto::daemon {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class MachineStateOf : public testing::Test {
 protected:
  MachineStateOf() : folder_(TemporaryFolder::create("state").value()) {}

  void file(const std::string& name, const std::string& text) const {
    test::write_sysfs(folder_.path(), name, text);
  }

  TemporaryFolder folder_;
};

TEST_F(MachineStateOf, ABoard) {
  test::make_fake_board(folder_.path());
  file("class/thermal/thermal_zone1/type", "gpu-thermal");
  file("class/thermal/thermal_zone1/temp", "70250");
  file("devices/system/cpu/cpufreq/policy0/scaling_governor", "ondemand");
  file("devices/system/cpu/cpufreq/policy4/scaling_governor", "performance");
  file("devices/system/cpu/cpufreq/policy5/scaling_governor", "ondemand");
  file("devices/system/cpu/cpufreq/policy4/scaling_cur_freq", "600000");
  file("devices/system/cpu/cpufreq/policy4/cpuinfo_max_freq", "1800000");
  const control::MachineState state = machine_state(folder_.path());
  EXPECT_EQ(state.temperature_celsius, 70.25) << "of the warmest";
  EXPECT_EQ(state.frequency_hertz, 6e8) << "of the slowest";
  EXPECT_EQ(state.frequency_max_hertz, 1.8e9) << "of the same core";
  EXPECT_THAT(state.governors, ElementsAre("ondemand", "performance"));
  EXPECT_THAT(state.throttled, ElementsAre("under_voltage", "throttling"));
  EXPECT_EQ(state.throttle_events, 10U);
}

TEST_F(MachineStateOf, AMachineThatShowsNothing) {
  const control::MachineState state = machine_state(folder_.path());
  EXPECT_FALSE(state.temperature_celsius);
  EXPECT_FALSE(state.frequency_hertz);
  EXPECT_FALSE(state.frequency_max_hertz);
  EXPECT_THAT(state.governors, IsEmpty());
  EXPECT_THAT(state.throttled, IsEmpty());
  EXPECT_EQ(state.throttle_events, 0U);
}

}  // namespace
}  // namespace pareto::daemon
