#include "core/base/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace pareto {
namespace {

TEST(MachineDescription, IsOfThisMachine) {
  const Machine machine = describe_machine();
  EXPECT_FALSE(machine.cpu.empty());
  EXPECT_GE(machine.cores, 1U);
  EXPECT_LE(machine.cores, static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_CONF)));
  utsname kernel{};
  ASSERT_EQ(::uname(&kernel), 0);
  EXPECT_THAT(machine.os, testing::HasSubstr(std::string("Linux ") + kernel.release));
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  EXPECT_EQ(machine.memory_bytes, pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

}  // namespace
}  // namespace pareto
