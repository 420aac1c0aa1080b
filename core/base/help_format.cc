// --help, in lines that fit a terminal.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/text.h"
#include "core/base/usage.h"

namespace pareto {
namespace {

constexpr std::size_t kWidest = 100;
constexpr std::size_t kNarrowest = 40;
/// Descriptions begin there; on a terminal with less than twice as many columns, on a line of their own.
constexpr std::size_t kDescription = 30;
constexpr std::size_t kNarrowDescription = 6;

class HelpFormat final : public CLI::Formatter {
 public:
  explicit HelpFormat(std::size_t columns)
      : columns_(columns == 0 ? kWidest : std::clamp(columns, kNarrowest, kWidest)) {}

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option),
                 option->get_description());
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return entry(command->get_name(), command->get_description());
  }

  /// Without which other flags exclude it: sentences say so, and errors; lists of twenty flags hide the sentences.
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string text = Formatter::make_option_opts(option);
    return text.substr(0, text.find(" Excludes:"));
  }

  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string name =
        make_option_name(option, true) + (option->get_expected_max() > 1 ? "..." : "");
    return option->get_required() ? name : "[" + name + "]";
  }

 private:
  std::string entry(const std::string& name, const std::string& description) const {
    const std::size_t begin = columns_ < 2 * kDescription ? kNarrowDescription : kDescription;
    std::string text = "  " + name;
    std::size_t column = text.size();
    for (const std::string& line : wrapped(description, columns_ - begin)) {
      if (column >= begin) {
        text += "\n";
        column = 0;
      }
      text += std::string(begin - column, ' ') + line;
      column = columns_;
    }
    return text + "\n";
  }

  std::size_t columns_;
};

}  // namespace

void set_help_format(CLI::App& app, int columns) {
  app.formatter(std::make_shared<HelpFormat>(static_cast<std::size_t>(std::max(columns, 0))));
}

}  // namespace pareto
