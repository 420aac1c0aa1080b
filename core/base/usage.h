// Values, headings and pages of help for the arguments of a command line parser.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pareto {

/// Names an option's value in --help ("FILE", "LIST"), and gives the words that shells propose for
/// it. A word like "@runs" stands for what `PROGRAM --complete runs WORD…` prints, a word a line.
/// Other values are allowed: files are proposed if no word fits. Words of a "LIST" may be joined by
/// commas.
CLI::Option* set_value(CLI::Option* option, const std::string& name,
                       const std::vector<std::string>& proposals = {});
/// The heading in --help of the options that are added to a parser while it lives; after it they
/// have the heading of before.
///
/// Threads: one owner; the parser outlives it.
class Heading {
 public:
  Heading(CLI::App& app, const std::string& text);
  // NOLINTNEXTLINE(bugprone-exception-escape): a name that was taken before is taken again.
  ~Heading();
  Heading(const Heading&) = delete;
  Heading& operator=(const Heading&) = delete;

 private:
  CLI::App& app_;
  const std::string before_;
};

/// Sets the format of --help for the parser and the commands added to it from now on: lines of at
/// most `columns` columns (0: no terminal).
void set_help_format(CLI::App& app, int columns);

/// The flags --manual and --completion, by which a program prints these. Two hidden ones are for
/// builds: --usage prints usage::to_json(), and --reference COMMAND (or the program's name) a page.
///
/// Threads: one owner; lives as long as the parser.
class UsageFlags {
 public:
  void add_to(CLI::App& app);
  /// Returns, after parsing, the text that was asked for; no value if nothing was.
  std::optional<std::string> text(const CLI::App& app, int section,
                                  std::string_view see_also) const;

 private:
  bool manual_ = false;
  bool usage_ = false;
  std::string shell_;
  std::string page_;
};

}  // namespace pareto
