#include "client/run_main.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

#include "client/interrupts.h"
#include "client/program.h"
#include "coordinator/results/store.h"
#include "core/base/log.h"

namespace pareto::client {
namespace {

constexpr int kUsualColumns = 80;

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

int columns_of_terminal() {
  winsize size{};
  const int fd = is_terminal(STDOUT_FILENO) ? STDOUT_FILENO : STDERR_FILENO;
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsualColumns;
}

std::filesystem::path store_of_environment() {
  const std::string chosen = variable("PARETO_STORE");
  if (!chosen.empty()) return chosen;
  return results::ResultStore::default_path(std::getenv("XDG_DATA_HOME"), std::getenv("HOME"));
}

int run_main(const std::vector<std::string>& arguments, const Commands& commands) {
  static_cast<void>(set_up_logging("paretoctl", "warn"));
  std::error_code no_proc;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", no_proc);
  const bool out_is_terminal = is_terminal(STDOUT_FILENO);
  Interrupts interrupts;
  Context context{.out = std::cout,
                  .err = std::cerr,
                  .out_is_terminal = out_is_terminal,
                  .err_is_terminal = is_terminal(STDERR_FILENO),
                  .colour = out_is_terminal && variable("NO_COLOR").empty(),
                  .columns = columns_of_terminal(),
                  .command_line = quoted_command_line(arguments),
                  .paretod = find_paretod(program, variable("PATH")),
                  .default_store = store_of_environment(),
                  .credentials = variable("PARETO_CREDENTIALS"),
                  .devices = variable("PARETO_DEVICES"),
                  .stop = interrupts};
  return run_program(arguments, commands, context);
}

}  // namespace pareto::client
