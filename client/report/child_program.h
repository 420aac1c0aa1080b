// Programs of others that draw for us: run once, ended with all that they started.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::report {

struct ChildProgram {
  std::string program{};  ///< a name to be looked for along PATH, or a path
  std::vector<std::string> arguments{};
  std::filesystem::path folder;  ///< its home; files stdout and stderr are written there
  std::filesystem::path input = "/dev/null";  ///< file that it reads as stdin
  std::chrono::seconds patience{120};         ///< the time that it may take
  int stop = -1;  ///< a descriptor, readable once it is to end early; -1: never
};

/// Runs a program, in a process group of its own. Returns its exit code, or 128 + the signal that
/// ended it. Fails: kNotFound (there is no such program), kTimeout, kClosed (stopped), as errno
/// says. However it ends, so do the processes of its group.
Expected<int> run_child(const ChildProgram& child);

/// Returns the end of what a program that ran in this folder wrote to stderr.
std::string last_words(const std::filesystem::path& folder);

}  // namespace pareto::report
