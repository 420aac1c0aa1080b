#include "runtime/kernels/parts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace pareto::runtime::kernels {
namespace {

TEST(Shares, CoverAllAndDifferByOneAtMost) {
  for (const std::int64_t count : {0, 1, 7, 49, 1000}) {
    for (const int parts : {1, 2, 3, 16}) {
      std::int64_t end = 0;
      for (int part = 0; part < parts; ++part) {
        const Share share = share_of(count, parts, part);
        EXPECT_EQ(share.begin, end);
        EXPECT_GE(share.size(), count / parts);
        EXPECT_LE(share.size(), count / parts + 1);
        end = share.end;
      }
      EXPECT_EQ(end, count);
    }
  }
}

TEST(WorkingMemory, OfOneKernelIsApartFromThatOfAnother) {
  const WorkingMemory first(1000);
  std::memset(first.data(), 1, 1000);
  const std::byte* reused = nullptr;
  {
    // More than a thread keeps.
    const WorkingMemory large(std::size_t{64} << 20);
    const WorkingMemory second(70);
    std::memset(large.data(), 2, std::size_t{64} << 20);
    std::memset(second.data(), 3, 70);
    reused = second.data();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second.data()) % 64, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.data()) % 64, 0U);
    EXPECT_EQ(large.data()[0], std::byte{2});
  }
  EXPECT_EQ(first.data()[999], std::byte{1});
  EXPECT_EQ(WorkingMemory(1).data(), reused);
}

}  // namespace
}  // namespace pareto::runtime::kernels
