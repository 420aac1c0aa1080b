#include "core/base/standard_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/file_descriptor.h"

namespace pareto {
namespace {

/// Runs `body` in a process of its own. Returns its exit code.
template <typename Body>
int exit_code_of(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StandardDescriptors, WhatIsOpenedLaterTakesNoneOfTheirNumbers) {
  const std::vector<std::vector<int>> closed{{0}, {1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}};
  for (const std::vector<int>& numbers : closed) {
    const int code = exit_code_of([&] {
      for (const int number : numbers) ::close(number);
      open_missing_descriptors(nullptr);
      const FileDescriptor later(::open("/dev/zero", O_RDWR | O_CLOEXEC));
      return later.get() > STDERR_FILENO ? 42 : 1;
    });
    EXPECT_EQ(code, 42) << "the first of those closed is " << numbers.front();
  }
}

TEST(StandardDescriptors, ANumberThatALibraryTookMakesTheProgramStartOnceMore) {
  std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string list = "--gtest_list_tests";
  std::array<char*, 3> argv{program.data(), list.data(), nullptr};
  const int code = exit_code_of([&] {
    for (const int number : {STDIN_FILENO, STDOUT_FILENO}) ::close(number);
    // As a library's constructor does it.
    static_cast<void>(::open("/dev/zero", O_RDWR | O_CLOEXEC));
    open_missing_descriptors(argv.data());
    return 1;
  });
  EXPECT_EQ(code, 0) << "it was not started";
}

TEST(StandardDescriptors, ReadingAndWritingFailAsOnClosedOnesAndErrorsGoNowhere) {
  const int code = exit_code_of([] {
    for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(number);
    open_missing_descriptors(nullptr);
    char byte = 'x';
    if (::read(STDIN_FILENO, &byte, 1) >= 0) return 1;
    if (::write(STDOUT_FILENO, &byte, 1) >= 0) return 2;
    return ::write(STDERR_FILENO, &byte, 1) == 1 ? 42 : 3;
  });
  EXPECT_EQ(code, 42);
}

}  // namespace
}  // namespace pareto
