// paretoctl: where to cut a model, over which network, for which trade-off.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "client/interrupts.h"
#include "client/program.h"
#include "client/results/store.h"
#include "core/base/log.h"

namespace {

/// Columns of the terminal behind a descriptor.
int columns_of(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace pareto;          // NOLINT(google-build-using-namespace): the composition root
  using namespace pareto::client;  // NOLINT(google-build-using-namespace)
  static_cast<void>(set_up_logging("paretoctl", "warn"));
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  std::error_code no_proc;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", no_proc);
  const bool out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  Interrupts interrupts;
  Context context{
      .out = std::cout,
      .err = std::cerr,
      .out_is_terminal = out_is_terminal,
      .err_is_terminal = ::isatty(STDERR_FILENO) == 1,
      .colour = out_is_terminal && variable("NO_COLOR").empty(),
      .columns = columns_of(out_is_terminal ? STDOUT_FILENO : STDERR_FILENO),
      .command_line = quoted_command_line(arguments),
      .paretod = find_paretod(program, variable("PATH")),
      .default_store = ResultStore::default_path(std::getenv("XDG_DATA_HOME"), std::getenv("HOME")),
      .stop = interrupts};
  return run_program(arguments, context);
}
