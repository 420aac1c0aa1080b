// What is read of the kernel's files, and what of files that are not as they should be.
#include "daemon/metrics/machine_sensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "tests/daemon/support/fake_board.h"

namespace pareto::daemon {
namespace {

using metrics::exposition;
using testing::HasSubstr;
using testing::Not;

class MachineSensors : public testing::Test {
 protected:
  MachineSensors() : folder_(TemporaryFolder::create("sensors").value()) {}

  void file(const std::string& name, const std::string& text) const {
    test::write_sysfs(folder_.path(), name, text);
  }
  std::string text() const { return exposition(machine_sensors(folder_.path())); }
  /// Returns whether a line says so, whatever digits its number is written with.
  bool says(const std::string& series, double value) const {
    const std::string all = "\n" + text();
    const std::size_t at = all.find("\n" + series + " ");
    return at != std::string::npos && std::stod(all.substr(at + series.size() + 2)) == value;
  }

  TemporaryFolder folder_;
};

TEST_F(MachineSensors, ABoardShowsAllItHas) {
  test::make_fake_board(folder_.path());
  EXPECT_TRUE(says(
      "pareto_machine_temperature_celsius{sensor=\"thermal_zone0\",name=\"cpu-thermal\"}", 61.5));
  EXPECT_TRUE(says("pareto_machine_frequency_hertz{cpu=\"0\"}", 1.5e9));
  EXPECT_TRUE(says("pareto_machine_frequency_max_hertz{cpu=\"0\"}", 2.4e9));
  EXPECT_TRUE(says("pareto_machine_throttled{cause=\"under_voltage\"}", 1));
  EXPECT_TRUE(says("pareto_machine_throttled{cause=\"frequency_cap\"}", 0));
  EXPECT_TRUE(says("pareto_machine_throttled{cause=\"throttling\"}", 1));
  EXPECT_TRUE(says("pareto_machine_throttled{cause=\"soft_temperature_limit\"}", 0));
  EXPECT_TRUE(says("pareto_machine_power_watts{sensor=\"hwmon1/power1\",name=\"ina219\"}", 5.25));
  EXPECT_TRUE(
      says("pareto_machine_energy_joules_total{zone=\"intel-rapl:0\",name=\"package-0\"}", 12.5));
}

TEST_F(MachineSensors, ThrottlingOfCoresAddsUpAndOfPackagesDoesNot) {
  for (const char* cpu : {"cpu0", "cpu1", "cpu10"}) {
    const std::string folder = std::string("devices/system/cpu/") + cpu + "/thermal_throttle/";
    file(folder + "core_throttle_count", "2");
    file(folder + "package_throttle_count", "9");
  }
  EXPECT_TRUE(says("pareto_machine_throttle_events_total{part=\"core\"}", 6));
  EXPECT_TRUE(says("pareto_machine_throttle_events_total{part=\"package\"}", 9));
}

TEST_F(MachineSensors, EachPackageCountsForItself) {
  const auto count = [&](int cpu, const char* package, const char* times) {
    const std::string folder = "devices/system/cpu/cpu" + std::to_string(cpu);
    file(folder + "/topology/physical_package_id", package);
    file(folder + "/thermal_throttle/package_throttle_count", times);
  };
  count(0, "0", "500");
  count(1, "0", "500");
  count(2, "1", "90");
  EXPECT_TRUE(says("pareto_machine_throttle_events_total{part=\"package\"}", 590));
}

TEST_F(MachineSensors, ARaspberryPi5SaysWhereItsChipIs) {
  file("devices/platform/soc@107c000000/soc@107c000000:firmware/get_throttled", "1");
  EXPECT_TRUE(says("pareto_machine_throttled{cause=\"under_voltage\"}", 1));
}

TEST_F(MachineSensors, HardwareMonitorsStandInForZones) {
  file("class/hwmon/hwmon0/name", "k10temp");
  file("class/hwmon/hwmon0/temp1_input", "45000");
  file("class/hwmon/hwmon0/temp1_label", "Tctl");
  EXPECT_TRUE(
      says("pareto_machine_temperature_celsius{sensor=\"hwmon0/temp1\",name=\"k10temp\"}", 45));
  file("class/thermal/thermal_zone0/type", "acpitz");
  file("class/thermal/thermal_zone0/temp", "-3000");
  EXPECT_TRUE(
      says("pareto_machine_temperature_celsius{sensor=\"thermal_zone0\",name=\"acpitz\"}", -3));
  EXPECT_THAT(text(), Not(HasSubstr("k10temp")));
}

TEST_F(MachineSensors, PartsOfAZoneAreNotCountedOnceMore) {
  file("class/powercap/intel-rapl/enabled", "1");
  file("class/powercap/intel-rapl:0/energy_uj", "1000000");
  file("class/powercap/intel-rapl:0:0/energy_uj", "400000");
  EXPECT_THAT(text(), Not(HasSubstr("intel-rapl:0:0")));
  EXPECT_TRUE(says("pareto_machine_energy_joules_total{zone=\"intel-rapl:0\",name=\"\"}", 1));
}

TEST_F(MachineSensors, WhatIsAbsentOrNoNumberIsLeftOut) {
  EXPECT_EQ(text(), "");
  file("class/thermal/thermal_zone0/temp", "hot");
  file("class/thermal/thermal_zone1/temp", "");
  file("class/thermal/thermal_zone2/temp", "12x");
  file("devices/platform/soc/soc:firmware/get_throttled", "zz");
  file("class/hwmon/hwmon0/power1_input", std::string(300'000, '9'));
  EXPECT_EQ(text(), "");
  EXPECT_TRUE(machine_sensors("/nowhere").empty());
}

TEST_F(MachineSensors, ManySensorsAreBounded) {
  for (int i = 0; i < 100; ++i) {
    file("class/thermal/thermal_zone" + std::to_string(i) + "/temp", "1000");
  }
  const metrics::Families families = machine_sensors(folder_.path());
  ASSERT_EQ(families.size(), 1U);
  EXPECT_EQ(families[0].samples.size(), 64U);
  EXPECT_EQ(families[0].samples[10].labels[0].second, "thermal_zone10");
}

}  // namespace
}  // namespace pareto::daemon
