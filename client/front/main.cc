// paretoctl as users call it: answers by itself what needs no LibTorch, which takes half a second
// to load, and becomes the whole program for all else.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <iostream>

#include "client/commands/commands.h"
#include "client/front/proposals.h"
#include "client/front/quick_answer.h"
#include "client/run_main.h"
#include "core/base/blas_kernels.h"
#include "core/base/file.h"
#include "core/base/open_mp_spin.h"
#include "core/base/standard_descriptors.h"

namespace {

using namespace pareto;          // NOLINT(google-build-using-namespace): the composition root
using namespace pareto::client;  // NOLINT(google-build-using-namespace)

/// Flushes what was printed. Returns the exit code.
int printed(const std::string& text) {
  std::cout << text << std::flush;
  if (std::cout) return kExitDone;
  std::cerr << "paretoctl: not all of the output could be written to stdout\n";
  return kExitFailed;
}

/// Becomes the whole program, in the same process. Returns only if that cannot be started.
int become_whole_program(char** argv) {
  std::error_code no_proc;
  const auto front = std::filesystem::read_symlink("/proc/self/exe", no_proc);
  const auto whole = (front.parent_path() / PARETO_WHOLE_PROGRAM).lexically_normal();
  // gRPC may read it when it is loaded.
  ::setenv("GRPC_VERBOSITY", "NONE", 0);
  shorten_open_mp_spin();
  choose_blas_kernels();
  ::execv(whole.c_str(), argv);
  std::cerr
      << "paretoctl: " << error_from_errno(errno, whole.string()).message
      << ": it is the other part of this program, in the same package or build; install both\n";
  return kExitEnvironment;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): without memory nothing can be said.
int main(int argc, char** argv) {
  open_missing_descriptors(argv);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (const auto words = proposals(arguments)) return printed(*words);
  if (const auto text = quick_answer(arguments, columns_of_terminal())) return printed(*text);
  if (!arguments.empty() && arguments.front() == "runs") {
    Commands commands;
    commands.push_back(commands::make_runs_command());
    return run_main(arguments, commands);
  }
  return become_whole_program(argv);
}
