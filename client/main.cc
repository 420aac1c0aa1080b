// paretoctl: where to cut a model, over which network, for which trade-off.
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <iostream>

#include "client/command.h"
#include "client/results/store.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace pareto::client {
namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

/// The first Ctrl-C asks for an orderly end, the second ends at once.
void on_interrupt(int number) {
  if (stop_requested.exchange(true)) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
}

int columns_of(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::filesystem::path paretod_beside_us() {
  std::error_code status;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", status);
  const auto beside = self.parent_path() / "paretod";
  return std::filesystem::exists(beside, status) ? beside : std::filesystem::path("paretod");
}

std::string quoted(int argc, char** argv) {
  std::string line = "paretoctl";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    line += word.find_first_of(" ;'\"$") == std::string::npos ? " " + word : " '" + word + "'";
  }
  return line;
}

int exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kNotFound:
    case ErrorCode::kCorrupt:
      return kExitUsage;
    case ErrorCode::kUnavailable:
    case ErrorCode::kTimeout:
    case ErrorCode::kPermission:
      return kExitEnvironment;
    case ErrorCode::kClosed:
    case ErrorCode::kExhausted:
    case ErrorCode::kInternal:
      break;
  }
  return kExitFailed;
}

int run(int argc, char** argv) {
  CLI::App app{"Cuts a neural network between devices and shows which cuts no other cut beats.",
               "paretoctl"};
  app.set_version_flag("--version", PARETO_VERSION);
  app.footer(
      "Exit codes: 0 done, 1 failed while running, 2 wrong flags or files, 3 the environment "
      "refuses,\n"
      "4 in part: some trials failed, or the run can be resumed.");
  const auto commands = builtin_commands();
  std::vector<std::string> names;
  for (const auto& command : commands) {
    CLI::App* sub =
        app.add_subcommand(std::string(command->name()), std::string(command->summary()));
    // Of a flag given twice the last counts, so that a command line can be taken up and changed at its end.
    sub->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    sub->footer("Examples:\n" + std::string(command->examples()));
    command->add_options(*sub);
    names.emplace_back(command->name());
  }
  if (argc > 1 && argv[1][0] != '-' &&
      std::find(names.begin(), names.end(), argv[1]) == names.end()) {
    std::cerr << "paretoctl: no command \"" << argv[1] << "\"" << did_you_mean(argv[1], names)
              << "; there are " << join(names) << '\n';
    return kExitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::cerr << "paretoctl: " << error.what() << " (paretoctl --help)\n";
    return kExitUsage;
  }
  if (app.get_subcommands().empty()) {
    std::cout << app.help();
    return kExitUsage;
  }
  const bool out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  const bool err_is_terminal = ::isatty(STDERR_FILENO) == 1;
  Context context{
      .out = std::cout,
      .err = std::cerr,
      .out_is_terminal = out_is_terminal,
      .err_is_terminal = err_is_terminal,
      .columns = columns_of(out_is_terminal ? STDOUT_FILENO : STDERR_FILENO),
      .command_line = quoted(argc, argv),
      .paretod = paretod_beside_us(),
      .default_store = ResultStore::default_path(std::getenv("XDG_DATA_HOME"), std::getenv("HOME")),
      .stop = stop_requested};
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  for (const auto& command : commands) {
    if (command->name() != app.get_subcommands().front()->get_name()) continue;
    const auto code = command->run(context);
    if (code) return *code;
    std::cerr << "paretoctl: " << code.error().message << '\n';
    return exit_code_of(code.error().code);
  }
  return kExitUsage;
}

}  // namespace
}  // namespace pareto::client

int main(int argc, char** argv) {
  static_cast<void>(pareto::set_up_logging("paretoctl", "warn"));
  return pareto::client::run(argc, argv);
}
