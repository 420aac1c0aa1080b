#include "core/base/process_memory.h"

#include <gtest/gtest.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <malloc.h>

#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace pareto {
namespace {

/// Returns the number of arenas that the allocator has made.
int count_arenas() {
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* const file = ::open_memstream(&text, &size);
  ::malloc_info(0, file);
  std::fclose(file);
  constexpr std::string_view kArena = "<heap nr=";
  const std::string_view all(text, size);
  int count = 0;
  for (auto at = all.find(kArena); at != all.npos; at = all.find(kArena, at + 1)) ++count;
  std::free(text);
  return count;
}

/// Returns the number of arenas after that many threads have allocated at the same time.
int arenas_of_threads(int count) {
  std::barrier all_have_allocated(count);
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      const std::vector<char> memory(100'000, 'x');
      all_have_allocated.arrive_and_wait();
    });
  }
  threads.clear();
  return count_arenas();
}

// In processes of their own, because an allocator sets its limit once.
TEST(ProcessMemoryDeathTest, ThreadsShareFewArenas) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::unsetenv("MALLOC_ARENA_MAX");
  const auto exit_with_arenas = [](bool limited) {
    if (limited) limit_arenas();
    std::_Exit(arenas_of_threads(7));
  };
  EXPECT_EXIT(exit_with_arenas(false), testing::ExitedWithCode(8), "") << "one for each thread";
  EXPECT_EXIT(exit_with_arenas(true), testing::ExitedWithCode(2), "");
}

TEST(ProcessMemoryDeathTest, TheEnvironmentsLimitOfArenasStays) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv("MALLOC_ARENA_MAX", "5", 1);
  const auto exit_with_arenas = [] {
    limit_arenas();
    std::_Exit(arenas_of_threads(7));
  };
  EXPECT_EXIT(exit_with_arenas(), testing::ExitedWithCode(5), "");
  ::unsetenv("MALLOC_ARENA_MAX");
}

}  // namespace
}  // namespace pareto

#endif
