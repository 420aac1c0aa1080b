#include "core/base/cpu_quota.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/file.h"

namespace pareto {
namespace {

namespace fs = std::filesystem;

class CpuQuotaTest : public testing::Test {
 protected:
  void write(const fs::path& file, const std::string& text) const {
    fs::create_directories((folder_.path() / file).parent_path());
    std::ofstream(folder_.path() / file) << text;
  }
  CpuQuota quota(int version, const fs::path& group) const {
    return cpu_quota({folder_.path(), version}, folder_.path() / group);
  }
  TemporaryFolder folder_ = TemporaryFolder::create("cpu-quota-test").value();
};

TEST_F(CpuQuotaTest, OfVersionOneIsATimeOfAPeriod) {
  write("docker/a/cpu.cfs_quota_us", "150000\n");
  write("docker/a/cpu.cfs_period_us", "100000\n");
  write("docker/a/cpu.stat", "nr_periods 1200\nnr_throttled 30\nthrottled_time 5000000\n");
  write("docker/cpu.cfs_quota_us", "-1\n");
  write("docker/cpu.cfs_period_us", "100000\n");
  const CpuQuota found = quota(1, "docker/a");
  EXPECT_DOUBLE_EQ(found.cores, 1.5);
  EXPECT_EQ(found.periods, 1200U);
  EXPECT_EQ(found.throttled_periods, 30U);
  EXPECT_EQ(quota(1, "docker").cores, 0) << "-1 is none";
}

TEST_F(CpuQuotaTest, OfVersionTwoIsTheSmallestOfAllGroupsAbove) {
  write("system.slice/paretod.service/cpu.max", "300000 100000\n");
  write("system.slice/paretod.service/cpu.stat", "nr_periods 7\nnr_throttled 1\n");
  write("system.slice/cpu.max", "50000 100000\n");
  write("system.slice/cpu.stat", "usage_usec 5\nnr_periods 90\nnr_throttled 9\n");
  const CpuQuota found = quota(2, "system.slice/paretod.service");
  EXPECT_DOUBLE_EQ(found.cores, 0.5);
  EXPECT_EQ(found.periods, 90U);
  EXPECT_EQ(found.throttled_periods, 9U);
}

TEST_F(CpuQuotaTest, IsNoneWithoutALimitOrWithGarbage) {
  write("a/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(2, "a").cores, 0);
  write("a/cpu.max", "200000\n");
  EXPECT_EQ(quota(2, "a").cores, 0);
  write("a/cpu.max", "words 0\n");
  EXPECT_EQ(quota(2, "a").cores, 0);
  EXPECT_EQ(quota(2, "nowhere").cores, 0);
}

TEST(UsefulThreads, AreAsManyAsCoresAndAsTheQuotaFeeds) {
  EXPECT_EQ(useful_threads(4, 0), 4);
  EXPECT_EQ(useful_threads(4, 8), 4);
  EXPECT_EQ(useful_threads(4, 2), 2);
  EXPECT_EQ(useful_threads(4, 2.9), 2);
  EXPECT_EQ(useful_threads(4, 0.5), 1);
  EXPECT_EQ(useful_threads(0, 0), 1);
  EXPECT_GE(useful_threads(), 1);
}

}  // namespace
}  // namespace pareto
