#include "client/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <ostream>

#include "client/parse_sentence.h"
#include "core/base/printable.h"
#include "core/base/text.h"
#include "core/base/usage.h"

namespace pareto::client {
namespace {

constexpr const char* kFooter =
    "Exit codes:\n"
    "  0  done\n"
    "  1  failed while running\n"
    "  2  wrong flags or files\n"
    "  3  the environment refuses\n"
    "  4  done in part: some trials failed, or it was stopped and can be resumed\n"
    "\n"
    "Environment: PARETO_DEVICES, PARETO_CREDENTIALS and PARETO_STORE are used if their flags are "
    "not "
    "given.\n"
    "\n"
    "Files named configs/... here are in /usr/share/doc/pareto-edge-client/examples if the package "
    "is\ninstalled. The guide, docs/guide.md, and the formats of all files are next to them.";

/// Checks the command. A first word that is no command is most often a slip of the finger; CLI11
/// would only call it unexpected.
Expected<> check_command(const std::vector<std::string>& arguments, const Commands& commands) {
  if (arguments.empty() || arguments.front().starts_with('-')) return {};
  std::vector<std::string> names;
  for (const auto& command : commands) names.emplace_back(command->name());
  if (std::ranges::find(names, arguments.front()) != names.end()) return {};
  return fail(ErrorCode::kInvalidArgument, "no command \"{}\"{}; there are {}", arguments.front(),
              did_you_mean(arguments.front(), names), join(names));
}

/// Replaces a first word: "help" and "help COMMAND" are what people try first.
std::vector<std::string> with_help_as_flag(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments.front() != "help") return arguments;
  arguments.erase(arguments.begin());
  arguments.emplace_back("--help");
  return arguments;
}

/// Libraries throw what the file that calls them did not foresee.
Expected<int> run_command(Command& command, Context& context) {
  try {
    return command.run(context);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, "{}: unexpected: {} (a bug: please report it)",
                command.name(), error.what());
  }
}

int report(Context& context, const Error& error) {
  context.out.flush();
  context.err << "paretoctl: " << printable_lines(error.message) << std::endl;
  return exit_code_of(error.code, context.phase);
}

/// `exit_code`, unless what was written has not got through.
int written(Context& context, int exit_code) {
  context.out.flush();
  if (context.out) return exit_code;
  return report(context,
                {ErrorCode::kExhausted, "not all of the output could be written to stdout"});
}

}  // namespace

int exit_code_of(ErrorCode code, Phase phase) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return kExitUsage;
    case ErrorCode::kNotFound:
    case ErrorCode::kCorrupt:
      return phase == Phase::kPreparing ? kExitUsage : kExitFailed;
    case ErrorCode::kUnavailable:
    case ErrorCode::kTimeout:
    case ErrorCode::kPermission:
      return phase == Phase::kPreparing ? kExitEnvironment : kExitFailed;
    case ErrorCode::kClosed:
    case ErrorCode::kExhausted:
    case ErrorCode::kInternal:
      break;
  }
  return kExitFailed;
}

std::filesystem::path find_paretod(const std::filesystem::path& program, const std::string& path) {
  // The whole program is in libexec/pareto-edge, and its front in bin.
  const auto bin = (program.parent_path() / "../../bin").lexically_normal();
  std::vector<std::filesystem::path> folders{program.parent_path(), bin};
  for (const std::string& folder : split_list(path, ':')) folders.emplace_back(folder);
  for (const auto& folder : folders) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(folder / "paretod", ignored)) return folder / "paretod";
  }
  return "paretod";
}

std::string quoted_command_line(const std::vector<std::string>& arguments) {
  std::string line = "paretoctl";
  for (const std::string& argument : arguments) {
    if (!argument.empty() &&
        argument.find_first_of(" \t\n'\"\\$;&|<>()*?#~`[]{}!") == std::string::npos) {
      line += " " + argument;
      continue;
    }
    line += " '";
    for (const char c : argument) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += "'";
  }
  return line;
}

int run_program(const std::vector<std::string>& words, const Commands& commands, Context& context) {
  const std::vector<std::string> arguments = with_help_as_flag(words);
  CLI::App app{"Cuts a neural network between devices and shows which cuts no other cut beats.",
               "paretoctl"};
  set_help_format(app, context.columns);
  app.set_version_flag("--version", PARETO_VERSION);
  UsageFlags usage;
  usage.add_to(app);
  app.footer(kFooter);
  if (const auto known = check_command(arguments, commands); !known) {
    return report(context, known.error());
  }
  Command* chosen = nullptr;
  for (const auto& command : commands) {
    CLI::App* sub =
        app.add_subcommand(std::string(command->name()), std::string(command->summary()));
    // Of a flag given twice the last counts, so that a command line can be taken up and changed at
    // its end.
    sub->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    sub->footer("Examples:\n" + std::string(command->examples()));
    command->add_options(*sub);
    sub->callback([&chosen, one = command.get()] { chosen = one; });
  }
  try {
    // CLI11 takes them last one first.
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::Success& success) {
    return written(context, app.exit(success, context.out, context.err));
  } catch (const CLI::ParseError& error) {
    return report(context, {ErrorCode::kInvalidArgument, parse_sentence(error, app, arguments)});
  }
  if (const auto text = usage.text(app, 1, "paretod(8)")) {
    context.out << *text;
    return written(context, kExitDone);
  }
  if (chosen == nullptr) {
    context.err << app.help() << std::flush;
    return kExitUsage;
  }
  const auto code = run_command(*chosen, context);
  if (!code) return report(context, code.error());
  return written(context, *code);
}

}  // namespace pareto::client
