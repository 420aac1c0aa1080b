#include "core/base/usage.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/text.h"

namespace pareto {
namespace {

constexpr std::string_view kProposals = ":<";

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

CLI::Option* set_value(CLI::Option* option, const std::string& name,
                       const std::vector<std::string>& proposals) {
  std::string type = name;
  if (!proposals.empty()) type += fmt::format("{}{}>", kProposals, join(proposals, ","));
  return option->type_name(type);
}

Heading::Heading(CLI::App& app, const std::string& text)
    : app_(app), before_(app.option_defaults()->get_group()) {
  app_.option_defaults()->group(text);
}

Heading::~Heading() { app_.option_defaults()->group(before_); }

std::string without_proposals(std::string error) {
  for (std::size_t begin = 0; (begin = error.find(kProposals)) != std::string::npos;) {
    const std::size_t end = error.find('>', begin);
    error.erase(begin, end == std::string::npos ? end : end + 1 - begin);
  }
  return error;
}

void UsageFlags::add_to(CLI::App& app) {
  app.add_flag("--manual", manual_, "print the manual page, as for \"man -l -\"");
  app.add_flag("--usage", usage_, "print what this program takes as JSON")->group("");
  app.add_option("--completion", shell_, "print what a shell reads to complete these arguments")
      ->type_name("SHELL")
      ->check(CLI::IsMember({"bash", "zsh"}));
}

std::optional<std::string> UsageFlags::text(const CLI::App& app, int section,
                                            std::string_view see_also) const {
  if (usage_) return to_json(usage_of(app));
  if (manual_) return manual_page(usage_of(app), section, see_also);
  if (shell_ == "bash") return bash_completion(usage_of(app));
  if (shell_ == "zsh") return zsh_completion(usage_of(app));
  return {};
}

}  // namespace pareto
