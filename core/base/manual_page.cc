#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/base/text.h"
#include "core/base/usage_pages.h"

namespace pareto::usage {
namespace {

/// Returns the text as it stands: nothing in it means anything to troff, and dashes and quotes can
/// be copied.
std::string plain(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '^':
        out += "\\(ha";
        break;
      default:
        if (c == '.' && line_begins) out += "\\&";
        out += c;
    }
    line_begins = c == '\n';
  }
  return out;
}

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + plain(text) + "\\fR"; }

/// Returns lines as they are.
std::string verbatim(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return "";
  return ".PP\n.nf\n" + plain(text) + "\n.fi\n";
}

std::string page_of(const OptionUsage& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) {
    names.push_back(option.positional() ? italic(name) : bold(name));
  }
  std::string page = ".TP\n" + join(names);
  if (!option.value.empty() && !option.positional()) page += " " + italic(option.value);
  page += "\n" + plain(option.help);
  if (!option.choices.empty()) page += plain(": " + join(option.choices));
  if (!option.initial.empty()) page += plain(fmt::format(" (default: {})", option.initial));
  if (option.required) page += " (required)";
  return page + "\n";
}

/// Returns "[OPTION]... ACTION [TESTBED]".
std::string synopsis(const Usage& usage) {
  std::string text = "[" + italic("OPTION") + "]...";
  for (const OptionUsage& option : usage.options) {
    if (!option.positional()) continue;
    std::string name = italic(option.names.front());
    if (!option.required) name = "[" + name + "]";
    text += " " + name + (option.repeated ? "..." : "");
  }
  return text;
}

std::string options_of(const Usage& usage) {
  std::string page;
  for (const OptionUsage& option : usage.options) page += page_of(option);
  return page;
}

}  // namespace

std::string manual_page(const Usage& usage, int section, std::string_view see_also) {
  std::string title = usage.name;
  std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string page = fmt::format(
      ".\\\" Made by {0} --manual.\n"
      ".TH {1} {2} \"\" \"Pareto Edge {3}\" \"Pareto Edge\"\n"
      ".SH NAME\n{4} \\- {5}\n"
      ".SH SYNOPSIS\n{6} {7}\n",
      usage.name, plain(title), section, PARETO_VERSION, plain(usage.name), plain(usage.summary),
      bold(usage.name), synopsis(usage));
  for (const Usage& command : usage.commands) {
    page += fmt::format(".br\n{} {} {}\n", bold(usage.name), bold(command.name), synopsis(command));
  }
  page += ".SH OPTIONS\n" + options_of(usage);
  if (!usage.commands.empty()) page += ".SH COMMANDS\n";
  for (const Usage& command : usage.commands) {
    page += fmt::format(".SS {}\n{}\n", plain(command.name), plain(command.summary));
    page += options_of(command) + verbatim(command.notes);
  }
  page += ".SH NOTES\n" + verbatim(usage.notes);
  return page + ".SH SEE ALSO\n" + plain(see_also) + "\n";
}

}  // namespace pareto::usage
