#include "core/base/usage.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/text.h"
#include "core/base/usage_pages.h"

namespace pareto {

namespace usage {
namespace {

constexpr std::string_view kProposals = ":<";
/// Choices are shown in place of a value's name if they are no longer.
constexpr std::size_t kShortChoices = 24;
/// The heading of options that have none of their own.
constexpr const char* kOptions = "Options";

/// Takes apart "NAME:<proposal,…>:{choice,…}": set_value(), and then what checks say of themselves.
void read_type(const std::string& type, OptionUsage& usage) {
  // A name may have a colon too: "HOST:PORT".
  usage.value = type.substr(0, std::min(type.find(kProposals), type.find(":{")));
  std::string rest = type.substr(usage.value.size());
  if (rest.starts_with(kProposals)) {
    const std::size_t end = rest.find('>');
    usage.proposals = split_list(rest.substr(kProposals.size(), end - kProposals.size()));
    rest = rest.substr(end + 1);
  }
  if (rest.starts_with(":{")) usage.choices = split_list(rest.substr(2, rest.size() - 3));
}

OptionUsage usage_of(const CLI::Option& option) {
  OptionUsage usage;
  for (const std::string& name : option.get_snames()) usage.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) usage.names.push_back("--" + name);
  if (usage.names.empty()) usage.names.push_back(option.get_name(/*positional=*/true));
  usage.help = option.get_description();
  usage.group = option.get_group();
  usage.required = option.get_required();
  if (option.get_items_expected_max() > 0) {
    read_type(option.get_type_name(), usage);
    usage.initial = option.get_default_str();
    usage.repeated = option.get_items_expected_max() > 1 ||
                     option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  }
  return usage;
}

}  // namespace

std::string OptionUsage::shown_value() const {
  if (choices.empty()) return value;
  const std::string all = join(choices, "|");
  return all.size() <= kShortChoices ? all : value;
}

std::string OptionUsage::description() const {
  std::string text = help;
  const bool shown = !positional() && shown_value() != value;
  if (!choices.empty() && !shown) text += ": " + join(choices);
  const bool says_default = text.find("default:") != std::string::npos;
  if (!initial.empty() && !says_default) text += fmt::format(" (default: {})", initial);
  if (required) text += " (required)";
  return text;
}

std::vector<OptionGroup> option_groups(const Usage& usage) {
  std::vector<OptionGroup> groups{{"Arguments", {}}};
  OptionGroup last{kOptions, {}};
  const auto group_of = [&](const OptionUsage& option) -> OptionGroup& {
    if (option.positional()) return groups.front();
    if (option.group == kOptions) return last;
    const auto found = std::ranges::find(groups, option.group, &OptionGroup::heading);
    return found == groups.end() ? groups.emplace_back(OptionGroup{option.group, {}}) : *found;
  };
  for (const OptionUsage& option : usage.options) group_of(option).options.push_back(&option);
  groups.push_back(std::move(last));
  std::erase_if(groups, [](const OptionGroup& group) { return group.options.empty(); });
  return groups;
}

std::string usage_line(const Usage& usage, std::string_view parent) {
  std::string line = std::string(parent) + usage.name;
  if (!usage.options.empty()) line += " [OPTIONS]";
  for (const OptionUsage& option : usage.options) {
    if (!option.positional()) continue;
    const std::string name = option.names.front() + (option.repeated ? "..." : "");
    line += option.required ? " " + name : " [" + name + "]";
  }
  return line + (usage.commands.empty() ? "" : " COMMAND");
}

Usage usage_of(const CLI::App& app) {
  Usage usage{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) usage.options.push_back(usage_of(*option));
  }
  const auto shown = [](const CLI::App* command) { return !command->get_group().empty(); };
  for (const CLI::App* command : app.get_subcommands(shown)) {
    usage.commands.push_back(usage_of(*command));
  }
  return usage;
}

std::string without_proposals(std::string error) {
  for (std::size_t begin = 0; (begin = error.find(kProposals)) != std::string::npos;) {
    const std::size_t end = error.find('>', begin);
    error.erase(begin, end == std::string::npos ? end : end + 1 - begin);
  }
  return error;
}

}  // namespace usage

CLI::Option* set_value(CLI::Option* option, const std::string& name,
                       const std::vector<std::string>& proposals) {
  std::string type = name;
  if (!proposals.empty()) type += fmt::format("{}{}>", usage::kProposals, join(proposals, ","));
  return option->type_name(type);
}

Heading::Heading(CLI::App& app, const std::string& text)
    : app_(app), before_(app.option_defaults()->get_group()) {
  app_.option_defaults()->group(text);
}

// NOLINTNEXTLINE(bugprone-exception-escape): the library throws at a name that no heading had.
Heading::~Heading() { app_.option_defaults()->group(before_); }

namespace {

/// Returns the command of that name, the app itself for its own, or null.
const CLI::App* find_page(const CLI::App& app, const std::string& name) {
  if (name == app.get_name()) return &app;
  const auto named = [&](const CLI::App* command) { return command->get_name() == name; };
  const auto found = app.get_subcommands(named);
  return found.empty() ? nullptr : found.front();
}

}  // namespace

void UsageFlags::add_to(CLI::App& app) {
  app.add_flag("--manual", manual_, "print the manual page, as for \"man -l -\"");
  app.add_flag("--usage", usage_, "print what this program takes as JSON")->group("");
  const auto is_page = [&app](const std::string& name) {
    return find_page(app, name) != nullptr ? "" : "no command " + name;
  };
  app.add_option("--reference", page_, "print a page of docs/reference: of a command, or this one")
      ->type_name("COMMAND")
      ->check(CLI::Validator(is_page, ""))
      ->group("");
  app.add_option("--completion", shell_, "print what a shell reads to complete these arguments")
      ->type_name("SHELL")
      ->check(CLI::IsMember({"bash", "zsh"}));
}

std::optional<std::string> UsageFlags::text(const CLI::App& app, int section,
                                            std::string_view see_also) const {
  if (const CLI::App* page = page_.empty() ? nullptr : find_page(app, page_)) {
    return usage::reference_page(usage::usage_of(*page), page == &app ? "" : app.get_name() + " ");
  }
  if (usage_) return usage::to_json(usage::usage_of(app));
  if (manual_) return usage::manual_page(usage::usage_of(app), section, see_also);
  if (shell_ == "bash") return usage::bash_completion(usage::usage_of(app));
  if (shell_ == "zsh") return usage::zsh_completion(usage::usage_of(app));
  return {};
}

}  // namespace pareto
