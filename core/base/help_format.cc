// --help, in lines that fit a terminal.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/base/usage_pages.h"

namespace pareto {
namespace usage {
namespace {

constexpr std::size_t kWidest = 100;
constexpr std::size_t kNarrowest = 40;
/// Descriptions begin there; on a terminal with less than twice as many columns, on a line of their
/// own.
constexpr std::size_t kDescription = 30;
constexpr std::size_t kNarrowDescription = 6;

class HelpPage {
 public:
  explicit HelpPage(int columns)
      : columns_(columns <= 0
                     ? kWidest
                     : std::clamp(static_cast<std::size_t>(columns), kNarrowest, kWidest)) {}

  void add_usage(const Usage& usage, std::string_view parent) {
    text_ += fmt::format("{}\n\nUsage: {}\n", usage.summary, usage_line(usage, parent));
  }

  void add_options(const Usage& usage) {
    for (const OptionGroup& group : option_groups(usage)) {
      begin(group.heading);
      for (const OptionUsage* option : group.options) {
        const std::string value = option->positional() ? "" : option->shown_value();
        add(join(option->names, ",") + (value.empty() ? "" : " " + value), option->description());
      }
    }
  }

  void add_commands(const Usage& usage) {
    begin("Commands");
    for (const Usage& command : usage.commands) add(command.name, command.summary);
  }

  std::string end(const Usage& usage) && {
    if (!usage.notes.empty()) text_ += "\n" + usage.notes;
    if (!text_.ends_with('\n')) text_ += "\n";
    return std::move(text_);
  }

 private:
  /// Headings stand only above something.
  void begin(const std::string& heading) { heading_ = heading; }

  void add(const std::string& name, const std::string& description) {
    if (!heading_.empty()) text_ += "\n" + std::exchange(heading_, "") + ":\n";
    const std::size_t begin = columns_ < 2 * kDescription ? kNarrowDescription : kDescription;
    std::string line = "  " + name;
    // Two blanks at least stand between a name and its description.
    if (line.size() + 2 > begin) {
      text_ += line + "\n";
      line.clear();
    }
    for (const std::string& part : wrapped(description, columns_ - begin)) {
      text_ += line + std::string(begin - line.size(), ' ') + part + "\n";
      line.clear();
    }
    if (!line.empty()) text_ += line + "\n";
  }

  std::size_t columns_;
  std::string heading_;
  std::string text_;
};

class HelpFormat final : public CLI::Formatter {
 public:
  explicit HelpFormat(int columns) : columns_(columns) {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode /*mode*/) const override {
    Usage usage = usage_of(*app);
    usage.name = std::move(name);
    return help_page(usage, columns_);
  }

 private:
  int columns_;
};

}  // namespace

std::string help_page(const Usage& usage, int columns, std::string_view parent) {
  HelpPage page(columns);
  page.add_usage(usage, parent);
  page.add_options(usage);
  page.add_commands(usage);
  return std::move(page).end(usage);
}

}  // namespace usage

void set_help_format(CLI::App& app, int columns) {
  app.formatter(std::make_shared<usage::HelpFormat>(columns));
}

}  // namespace pareto
