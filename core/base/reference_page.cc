// A program or one of its commands as a page of docs/reference: Markdown.
#include <fmt/format.h>

#include <cctype>
#include <sstream>

#include "core/base/text.h"
#include "core/base/usage_pages.h"

namespace pareto::usage {
namespace {

constexpr std::size_t kColumns = 100;
/// The first line of a program's notes, if they begin with examples.
constexpr std::string_view kExamples = "Examples:";

/// Returns `text` so that nothing in it means anything to Markdown, except code between backticks.
std::string plain(std::string_view text) {
  std::string out;
  bool is_code = false;
  for (const char c : text) {
    if (c == '`') is_code = !is_code;
    // A bar would end the cell of a table, in code too.
    if (c == '|' || (!is_code && std::string_view("\\*<~").find(c) != std::string_view::npos)) {
      out += '\\';
    }
    out += c;
  }
  return out;
}

std::string code(const std::string& text) { return plain("`" + text + "`"); }

std::string paragraph(const std::string& text) {
  return text.empty() ? "" : "\n" + join(wrapped(plain(text), kColumns), "\n") + "\n";
}

/// Returns the words of a list as a sentence: "goes there" as "Goes there."
std::string sentence(std::string words) {
  if (!words.empty()) words.front() = static_cast<char>(std::toupper(words.front()));
  return words.ends_with('.') ? words : words + ".";
}

std::string block(const std::string& lines) {
  return lines.empty() ? "" : "\n```\n" + lines + "```\n";
}

std::string table(std::string_view heading, const std::string& rows) {
  return fmt::format("\n## {}\n\n| | |\n|---|---|\n{}", heading, rows);
}

std::string table_of(const OptionGroup& group) {
  std::string rows;
  for (const OptionUsage* option : group.options) {
    const std::string value = option->positional() ? "" : option->shown_value();
    const std::string name = join(option->names) + (value.empty() ? "" : " " + value);
    rows += fmt::format("| {} | {} |\n", code(name), plain(option->description()));
  }
  return table(group.heading, rows);
}

std::string table_of(const std::vector<Usage>& commands) {
  std::string rows;
  for (const Usage& command : commands) {
    rows += fmt::format("| [`{0}`]({0}.md) | {1} |\n", command.name, plain(command.summary));
  }
  return rows.empty() ? "" : table("Commands", rows);
}

/// Returns indented lines as blocks of code, and the others as paragraphs, which end at an empty
/// line.
std::string body_of(std::istream& lines) {
  std::string page;
  std::string text;
  std::string indented;
  const auto finish = [&page](std::string& part, auto form) {
    page += form(part);
    part.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  ")) {
      finish(text, paragraph);
      indented += line.substr(2) + "\n";
    } else {
      finish(indented, block);
      if (line.empty()) finish(text, paragraph);
      text += (text.empty() ? "" : " ") + line;
    }
  }
  finish(text, paragraph);
  finish(indented, block);
  return page;
}

std::string notes_of(const Usage& usage) {
  std::istringstream lines(usage.notes);
  std::string first;
  if (usage.notes.starts_with(kExamples)) std::getline(lines, first);
  const std::string body = body_of(lines);
  if (body.empty()) return "";
  return fmt::format("\n## {}\n{}", first.empty() ? "Notes" : "Examples", body);
}

}  // namespace

std::string reference_page(const Usage& usage, std::string_view parent) {
  std::string page = fmt::format(
      "<!-- Made by `./dev reference` of what --help says. Change it there. -->\n# {}{}\n", parent,
      usage.name);
  page += paragraph(sentence(usage.summary)) + block(usage_line(usage, parent) + "\n");
  page += table_of(usage.commands);
  for (const OptionGroup& group : option_groups(usage)) page += table_of(group);
  return page + notes_of(usage);
}

}  // namespace pareto::usage
