#include "client/front/quick_answer.h"

#include <algorithm>

namespace pareto::client {
namespace {

bool asks_for_help(const std::string& word) { return word == "--help" || word == "-h"; }

const usage::Usage* find(const usage::Usage& usage, const std::string& command) {
  const auto found = std::ranges::find(usage.commands, command, &usage::Usage::name);
  return found == usage.commands.end() ? nullptr : &*found;
}

std::optional<std::string> help(const std::vector<std::string>& arguments, int columns,
                                const usage::Usage& usage) {
  if (arguments.size() == 1 && (asks_for_help(arguments[0]) || arguments[0] == "help")) {
    return usage::help_page(usage, columns);
  }
  if (arguments.size() != 2) return std::nullopt;
  const usage::Usage* command = nullptr;
  if (arguments[0] == "help") command = find(usage, arguments[1]);
  if (asks_for_help(arguments[1])) command = find(usage, arguments[0]);
  if (command == nullptr) return std::nullopt;
  return usage::help_page(*command, columns, usage.name + " ");
}

}  // namespace

std::optional<std::string> quick_answer(const std::vector<std::string>& arguments, int columns,
                                        const usage::Usage& usage) {
  using Words = std::vector<std::string>;
  if (arguments == Words{"--version"}) return PARETO_VERSION "\n";
  if (arguments == Words{"--manual"}) return usage::manual_page(usage, 1, "paretod(8)");
  if (arguments == Words{"--completion", "bash"}) return usage::bash_completion(usage);
  if (arguments == Words{"--completion", "zsh"}) return usage::zsh_completion(usage);
  return help(arguments, columns, usage);
}

std::optional<std::string> quick_answer(const std::vector<std::string>& arguments, int columns) {
  // Most arguments ask for something else: what follows would be in vain.
  const bool may_be_quick = !arguments.empty() && arguments.size() <= 2 &&
                            (arguments.front().starts_with('-') || arguments.front() == "help" ||
                             asks_for_help(arguments.back()));
  if (!may_be_quick) return std::nullopt;
  const auto usage = usage::usage_from_json(usage_of_whole_program());
  if (!usage) return std::nullopt;
  return quick_answer(arguments, columns, *usage);
}

}  // namespace pareto::client
