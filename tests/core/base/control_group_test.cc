#include "core/base/control_group.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/file.h"

namespace pareto {
namespace {

TEST(ControlGroups, OfVersionOneHaveATreeForEachController) {
  constexpr const char* kMounts =
      "25 20 0:22 / /sys/fs/cgroup rw shared:5 - tmpfs tmpfs rw,mode=755\n"
      "36 25 0:31 / /sys/fs/cgroup/cpuset rw,relatime shared:9 - cgroup cgroup rw,cpuset\n"
      "37 25 0:32 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n";
  const auto cpu = find_controller("cpu", kMounts).value();
  EXPECT_EQ(cpu.root, "/sys/fs/cgroup/cpu,cpuacct");
  EXPECT_EQ(cpu.version, 1);
  EXPECT_EQ(find_controller("memory", kMounts).error().code, ErrorCode::kUnavailable);
}

TEST(ControlGroups, OfVersionTwoOfferControllersInOneTree) {
  const auto folder = TemporaryFolder::create("control-group-test").value();
  std::ofstream(folder.path() / "cgroup.controllers") << "cpuset cpu io memory pids\n";
  const std::string mounts = "30 23 0:26 / " + folder.path().string() +
                             " rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
  for (const char* controller : {"cpu", "memory"}) {
    const auto tree = find_controller(controller, mounts).value();
    EXPECT_EQ(tree.root, folder.path());
    EXPECT_EQ(tree.version, 2);
  }
  EXPECT_FALSE(find_controller("hugetlb", mounts));
}

TEST(ControlGroups, AreNotSeenInGarbage) {
  for (const char* mounts :
       {"", "\n\n", "- cgroup", "a b c - cgroup cgroup rw,cpu", "1 2 3 4 5 6 -"}) {
    EXPECT_FALSE(find_controller("cpu", mounts)) << mounts;
  }
}

TEST(ControlGroups, OfThisProcessIsAFolder) {
  const auto tree = find_controller("memory");
  if (!tree) GTEST_SKIP() << tree.error().message;
  EXPECT_TRUE(std::filesystem::is_directory(own_control_group(*tree, "memory")));
}

}  // namespace
}  // namespace pareto
