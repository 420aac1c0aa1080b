// Programs whose disk is full, or may not be written, at one call that writes. The calls are
// counted first, then each is made to fail.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fault_figures.h"
#include "tests/support/process.h"

namespace pareto::test {

/// The failing calls of one program (tests/support/fail_writes.cc). Threads: one owner.
class FailingWrites {
 public:
  /// `log`: a file that lists the calls.
  explicit FailingWrites(std::string log) : log_(std::move(log)) {}

  /// Returns the variables with which a program's call of that number fails that writes to paths
  /// that begin so. 0: each call is only counted.
  std::vector<std::string> variables(const std::string& begin, std::size_t call,
                                     const std::string& error = "ENOSPC") const {
    std::error_code ignored;
    std::filesystem::remove(log_, ignored);
    std::vector<std::string> set{fmt::format("LD_PRELOAD={}", PARETO_FAIL_WRITES),
                                 "FAIL_WRITES_UNDER=" + begin, "FAIL_WRITES_LOG=" + log_,
                                 "FAIL_WRITES_WITH=" + error};
    if (call > 0) set.push_back(fmt::format("FAIL_WRITES_AT={}", call));
    return set;
  }
  /// Returns the same for a call that, if it is write(), writes half before the next one fails.
  std::vector<std::string> half(const std::string& begin, std::size_t call) const {
    auto set = variables(begin, call);
    set.emplace_back("FAIL_WRITES_SHORT=1");
    return set;
  }
  /// Returns the number of calls of the program that ran last.
  std::size_t count() const { return count_of("\n", slurp(log_)); }
  /// Returns the line of a call: its number, name and file.
  std::string line(std::size_t call) const {
    std::ifstream file(log_);
    std::string line;
    for (std::size_t i = 0; i < call; ++i) std::getline(file, line);
    return line;
  }

 private:
  std::string log_;
};

/// Returns the calls to try of as many, spread over them: `few`, and `many` in the long form.
inline std::vector<std::size_t> chosen_calls(std::size_t calls, std::size_t few, std::size_t many) {
  const std::size_t tried = std::min(calls, cycles(few, many));
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < tried; ++i) numbers.push_back(1 + i * calls / tried);
  return numbers;
}

/// Returns the calls to try of as many: all in the long form, else a few that are spread over them.
inline std::vector<std::size_t> chosen_calls(std::size_t calls, std::size_t few) {
  return chosen_calls(calls, few, calls);
}

/// Matches a sentence that says that a disk is full, or may not be written.
inline auto says_why_not_written() {
  using ::testing::HasSubstr;
  return ::testing::AnyOf(HasSubstr("No space left on device"), HasSubstr("disk full"),
                          HasSubstr("file system"));
}

/// Runs paretoctl with more variables, to its end.
inline Finished paretoctl_with(const std::vector<std::string>& environment,
                               std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "paretoctl");
  return run(std::move(arguments), environment);
}

}  // namespace pareto::test
