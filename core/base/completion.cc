#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/base/text.h"
#include "core/base/usage_pages.h"

namespace pareto::usage {
namespace {

/// Returns the words or, with kinds, the kinds of what is proposed: "@runs" is the kind "runs".
std::string proposed(const OptionUsage& option, bool kinds) {
  std::vector<std::string> list = kinds ? std::vector<std::string>{} : option.choices;
  for (const std::string& one : option.proposals) {
    if (one.starts_with('@') == kinds) list.push_back(one.substr(kinds ? 1 : 0));
  }
  return join(list, " ");
}

/// Returns all names of every flag and of every option.
std::vector<std::string> flags_of(const Usage& usage) {
  std::vector<std::string> flags;
  for (const OptionUsage& option : usage.options) {
    if (!option.positional()) flags.insert(flags.end(), option.names.begin(), option.names.end());
  }
  return flags;
}

/// Returns the words that may stand where no option does: commands, choices; nothing where any file
/// may.
std::vector<std::string> words_of(const Usage& usage) {
  std::vector<std::string> words;
  for (const Usage& command : usage.commands) words.push_back(command.name);
  for (const OptionUsage& option : usage.options) {
    if (option.positional()) {
      const std::vector<std::string> some = split_list(proposed(option, false), ' ');
      words.insert(words.end(), some.begin(), some.end());
    }
  }
  const bool takes_words = std::ranges::any_of(usage.options, &OptionUsage::positional);
  return words.empty() && !takes_words ? flags_of(usage) : words;
}

/// Makes a case of "COMMAND CHOICE" for a positional argument that is one of a few words: what may
/// stand behind it is of the arguments that follow.
std::string choice_cases(const Usage& usage, const std::string& command) {
  std::string cases;
  for (auto option = usage.options.begin(); option != usage.options.end(); ++option) {
    if (!option->positional() || option->choices.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& choice : option->choices) {
      patterns.push_back(fmt::format("'{} {}'", command, choice));
    }
    std::string words;
    std::string kinds;
    for (auto next = std::next(option); next != usage.options.end(); ++next) {
      if (!next->positional()) continue;
      words += (words.empty() ? "" : " ") + proposed(*next, false);
      kinds += (kinds.empty() ? "" : " ") + proposed(*next, true);
    }
    cases += fmt::format("    {}) words='{}' kinds='{}' ;;\n", join(patterns, " | "), words, kinds);
  }
  return cases;
}

/// Makes a case of "COMMAND WORD-BEFORE" for each option that takes a value.
std::string value_cases(const Usage& usage, const std::string& command) {
  std::string cases;
  for (const OptionUsage& option : usage.options) {
    if (option.positional() || option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names) {
      patterns.push_back(fmt::format("'{} {}'", command, name));
    }
    cases += fmt::format("    {}) flags= words='{}' kinds='{}' ;;\n", join(patterns, " | "),
                         proposed(option, false), proposed(option, true));
  }
  return cases;
}

/// Returns the kinds that a command's positional arguments are of.
std::string kinds_of(const Usage& usage) {
  std::vector<std::string> kinds;
  for (const OptionUsage& option : usage.options) {
    if (option.positional() && !proposed(option, true).empty()) {
      kinds.push_back(proposed(option, true));
    }
  }
  return join(kinds, " ");
}

std::string word_case(const Usage& usage, const std::string& command) {
  return fmt::format("    '{}') flags='{}' words='{}' kinds='{}' ;;\n", command,
                     join(flags_of(usage), " "), join(words_of(usage), " "), kinds_of(usage));
}

/// Returns the text in single quotes of a shell.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// Returns what zsh does for a value: completes a choice, a proposal, or a file.
std::string zsh_action(const OptionUsage& option) {
  if (!option.choices.empty()) return "(" + join(option.choices, " ") + ")";
  if (option.proposals.empty()) return "_files";
  std::string words = proposed(option, false);
  for (const std::string& kind : split_list(proposed(option, true), ' ')) {
    words += fmt::format(" ${{(f)\"$(_call_program {0} $service --complete {0} ${{(q)words}})\"}}",
                         kind);
  }
  // Words of a list are joined by commas.
  return fmt::format("{{{}compadd - {}; _files}}", option.value == "LIST" ? "_sequence " : "",
                     words);
}

/// Returns "'--output=[help]:FILE:_files'", one for each name.
std::string zsh_specs(const Usage& usage) {
  std::string specs;
  for (const OptionUsage& option : usage.options) {
    const std::string action = zsh_action(option);
    if (option.positional()) {
      specs += " " + shell_quoted(fmt::format("{}:{}:{}", option.repeated ? "*" : "",
                                              option.names.front(), action));
      continue;
    }
    for (const std::string& name : option.names) {
      std::string spec = option.repeated ? "*" : "(" + join(option.names, " ") + ")";
      spec += name;
      if (!option.value.empty()) spec += name.starts_with("--") ? "=" : "+";
      spec += "[" + escaped(option.help, "\\[]") + "]";
      if (!option.value.empty()) spec += ":" + escaped(option.value, "\\:") + ":" + action;
      specs += " " + shell_quoted(spec);
    }
  }
  return specs;
}

}  // namespace

std::string bash_completion(const Usage& usage) {
  std::string names;
  std::string values = value_cases(usage, "");
  std::string words = word_case(usage, "");
  for (const Usage& command : usage.commands) {
    names += (names.empty() ? "" : " | ") + command.name;
    values += value_cases(command, command.name);
    values += choice_cases(command, command.name);
    words += word_case(command, command.name);
  }
  const std::string find_command =
      names.empty() ? ""
                    : fmt::format(
                          "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
                          "    case $word in {}) command=$word; break ;; esac\n"
                          "  done\n",
                          names);
  return fmt::format(
      "# Completes the arguments of {0} in bash. Made by {0} --completion bash.\n"
      "_{0}() {{\n"
      "  local at=$COMP_CWORD current=${{COMP_WORDS[COMP_CWORD]}} before\n"
      "  local command= word flags words kinds list= replaced\n"
      "  # bash takes words apart: a:1 is three of them, and so is --flag=value.\n"
      "  while ((at > 1)) && [[ $current == :* || ${{COMP_WORDS[at - 1]}} == : ]]; do\n"
      "    ((at -= 1))\n"
      "    current=${{COMP_WORDS[at]}}$current\n"
      "  done\n"
      "  replaced=${{current%\"${{current##*:}}\"}}\n"
      "  before=${{COMP_WORDS[at - 1]}}\n"
      "  if [[ $current == = ]]; then current=\n"
      "  elif [[ $before == = ]]; then before=${{COMP_WORDS[at - 2]}}; fi\n"
      "{1}"
      "  case $command in\n{2}  esac\n"
      "  case \"$command $before\" in\n{3}  esac\n"
      "  if [[ $current == -* ]]; then words=$flags kinds=; fi\n"
      "  for word in $kinds; do\n"
      "    words+=\" $(\"${{COMP_WORDS[0]}}\" --complete \"$word\" \"${{COMP_WORDS[@]:1}}\" "
      "2>/dev/null)\"\n"
      "  done\n"
      "  # The last word of a list that is joined by commas.\n"
      "  if [[ $current == *,* ]]; then list=${{current%,*}},; current=${{current##*,}}; fi\n"
      "  # Where nothing fits, files do (-o default).\n"
      "  mapfile -t COMPREPLY < <(compgen -P \"$list\" -W \"$words\" -- \"$current\")\n"
      "  COMPREPLY=(\"${{COMPREPLY[@]#\"$replaced\"}}\")\n"
      "}}\n"
      "complete -o default -F _{0} {0}\n",
      usage.name, find_command, words, values);
}

std::string zsh_completion(const Usage& usage) {
  std::string script = fmt::format(
      "#compdef {0}\n"
      "# Completes the arguments of {0} in zsh. Made by {0} --completion zsh.\n",
      usage.name);
  if (usage.commands.empty()) return script + "_arguments" + zsh_specs(usage) + "\n";
  std::string names;
  std::string cases;
  for (const Usage& command : usage.commands) {
    names += " " + shell_quoted(command.name + ":" + escaped(command.summary, "\\:"));
    cases += fmt::format("    {}) _arguments{} ;;\n", command.name, zsh_specs(command));
  }
  return script + fmt::format(
                      "local curcontext=$curcontext state line\n"
                      "typeset -A opt_args\n"
                      "local -a commands=({0})\n"
                      "_arguments -C{1} '1:command:->command' '*::argument:->argument'\n"
                      "case $state in\n"
                      "  command) _describe command commands ;;\n"
                      "  argument) case $words[1] in\n{2}  esac ;;\n"
                      "esac\n",
                      names, zsh_specs(usage), cases);
}

}  // namespace pareto::usage
