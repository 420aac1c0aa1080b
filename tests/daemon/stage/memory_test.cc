#include "daemon/stage/memory.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/file.h"

namespace pareto::daemon {
namespace {

TEST(Memory, OfAControlGroupIsWhatItMayTakeWithoutTheFilesItKeeps) {
  const auto folder = TemporaryFolder::create("memory-test").value();
  const auto write = [&](const char* name, const char* text) {
    std::ofstream(folder.path() / name) << text;
  };
  const MemoryReading machine{0, 0, 8'000, 10'000};
  MemoryReading reading = machine;
  limit_to_control_group(reading, folder.path(), false);
  EXPECT_EQ(reading.total_bytes, 10'000U) << "no limit is known";
  write("memory.max", "max\n");
  limit_to_control_group(reading, folder.path(), false);
  EXPECT_EQ(reading.available_bytes, 8'000U);

  write("memory.max", "4000\n");
  write("memory.current", "3900\n");
  write("memory.stat", "anon 1500\ninactive_file 2000\nactive_file 300\n");
  limit_to_control_group(reading, folder.path(), false);
  EXPECT_EQ(reading.total_bytes, 4'000U);
  EXPECT_EQ(reading.available_bytes, 4'000U - (3'900U - 2'300U));

  write("memory.stat", "anon 3900\n");
  write("memory.current", "4000\n");
  reading = machine;
  limit_to_control_group(reading, folder.path(), false);
  EXPECT_EQ(reading.available_bytes, 1U) << "0 would be unknown";

  write("memory.limit_in_bytes", "5000\n");
  write("memory.usage_in_bytes", "1000\n");
  reading = machine;
  limit_to_control_group(reading, folder.path(), true);
  EXPECT_EQ(reading.total_bytes, 5'000U);
  EXPECT_EQ(reading.available_bytes, 4'000U);
}

TEST(Memory, ThisProcessHasSome) {
  const MemoryReading reading = read_memory();
  EXPECT_GT(reading.resident_bytes, 100'000U);
  EXPECT_GE(reading.peak_resident_bytes, reading.resident_bytes);
  EXPECT_GT(reading.total_bytes, reading.resident_bytes);
  EXPECT_GT(reading.available_bytes, 0U);
}

TEST(Memory, OfTheAllocatorIsWhatIsHeldOfIt) {
  const std::uint64_t before = read_memory().allocated_bytes;
  if (before == 0) GTEST_SKIP() << "this allocator does not tell";
  constexpr std::size_t kBytes = 32 << 20;
  auto held = std::make_unique<std::vector<char>>(kBytes, 'x');
  EXPECT_GE(read_memory().allocated_bytes, before + kBytes);
  held.reset();
  EXPECT_LT(read_memory().allocated_bytes, before + kBytes);
}

}  // namespace
}  // namespace pareto::daemon
