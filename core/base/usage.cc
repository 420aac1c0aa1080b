#include "core/base/usage.h"

#include <CLI/CLI.hpp>

#include "core/base/text.h"

namespace pareto {
namespace {

OptionUsage usage_of(const CLI::Option& option) {
  OptionUsage usage;
  for (const std::string& name : option.get_snames()) usage.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) usage.names.push_back("--" + name);
  if (usage.names.empty()) usage.names.push_back(option.get_name(/*positional=*/true));
  usage.help = option.get_description();
  usage.required = option.get_required();
  if (option.get_items_expected_max() > 0) {
    // "TEXT:{up,down}": its type, and what its checks say of themselves.
    const std::string type = option.get_type_name();
    const std::size_t colon = type.find(':');
    usage.value = type.substr(0, colon);
    if (colon != std::string::npos && type.substr(colon + 1, 1) == "{") {
      usage.choices = split_list(type.substr(colon + 2, type.size() - colon - 3));
    }
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

void UsageFlags::add_to(CLI::App& app) {
  app.add_flag("--manual", manual_, "print the manual page, as for \"man -l -\"");
  app.add_option("--completion", shell_, "print what a shell reads to complete these arguments")
      ->type_name("SHELL")
      ->check(CLI::IsMember({"bash", "zsh"}));
}

std::optional<std::string> UsageFlags::text(const CLI::App& app, int section,
                                            std::string_view see_also) const {
  if (manual_) return manual_page(usage_of(app), section, see_also);
  if (shell_ == "bash") return bash_completion(usage_of(app));
  if (shell_ == "zsh") return zsh_completion(usage_of(app));
  return {};
}

}  // namespace pareto
