#include "core/base/machine_load.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/cpu_time.h"
#include "core/base/file.h"

namespace pareto {
namespace {

class MachineLoadTest : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(folder_.path() / file) << text;
  }
  TemporaryFolder folder_ = TemporaryFolder::create("machine-load-test").value();
};

TEST_F(MachineLoadTest, CountsWhatProcessesTookAndNoInterrupts) {
  // user nice system idle iowait irq softirq steal guest guest_nice, in hundredths of a second.
  write("stat",
        "cpu  1000 20 300 90000 50 6 7 40 0 0\n"
        "cpu0 500 10 150 45000 25 3 3 20 0 0\n"
        "cpu1 500 10 150 45000 25 3 4 20 0 0\n"
        "intr 431024 0 0\ncpus 7\n");
  write("loadavg", "5.81 2.07 0.94 4/118 12683\n");
  const MachineLoad load = machine_load(folder_.path());
  EXPECT_EQ(load.processors, 2);
  EXPECT_EQ(load.busy, std::chrono::milliseconds(13'600));
  EXPECT_DOUBLE_EQ(load.load, 5.81);
}

TEST_F(MachineLoadTest, WhatCannotBeReadIsZero) {
  const MachineLoad nothing = machine_load(folder_.path());
  EXPECT_EQ(nothing.processors, 0);
  EXPECT_EQ(nothing.busy, Nanoseconds(0));
  write("stat", "cpu  many -5 words\ncpux 1 2 3\ncpu\n");
  write("loadavg", "high\n");
  const MachineLoad garbage = machine_load(folder_.path());
  EXPECT_EQ(garbage.processors, 0);
  EXPECT_EQ(garbage.busy, Nanoseconds(0));
  EXPECT_EQ(garbage.load, 0);
}

TEST(MachineLoad, OfThisMachineIsNoLessThanThisProcessTook) {
  const MachineLoad load = machine_load();
  if (load.processors == 0) GTEST_SKIP() << "this machine does not tell";
  EXPECT_GT(process_cpu_time(), Nanoseconds(0));
  // Counted in hundredths of a second for each core.
  EXPECT_GE(load.busy + std::chrono::milliseconds(20 * load.processors), process_cpu_time());
}

}  // namespace
}  // namespace pareto
