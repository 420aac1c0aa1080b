// What a program takes on its command line, read off its parser: --help, the manual page and the completions of shells have one source.
//
//   CLI::App ──usage_of──▶ Usage ──▶ manual_page (troff), completion (bash, zsh)
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace pareto {

struct OptionUsage {
  std::vector<std::string>
      names;          ///< "-o", "--output"; of a positional argument one without dashes
  std::string value;  ///< "FILE"; empty: a flag
  std::vector<std::string> choices;  ///< the only values there are; empty: not so
  std::string initial;               ///< the default, where it is to be shown
  std::string help;
  bool required = false;
  bool repeated = false;

  bool positional() const { return !names.front().starts_with('-'); }
};

struct Usage {
  std::string name;
  std::string summary;
  std::string notes;  ///< below all else, lines as they are: examples, exit codes
  std::vector<OptionUsage> options;
  std::vector<Usage> commands;
};

/// Options in the order of --help, hidden ones left out.
Usage usage_of(const CLI::App& app);

/// --help in lines of at most so many columns (0: no terminal), for the parser and the commands added to it from now on.
void set_help_format(CLI::App& app, int columns);

/// A page for man(1), of this version of the program. see_also: as "paretod(8)".
std::string manual_page(const Usage& usage, int section, std::string_view see_also);

/// What bash or zsh is to read so that it completes the program's arguments.
std::string bash_completion(const Usage& usage);
std::string zsh_completion(const Usage& usage);

/// The flags --manual and --completion, by which a program prints these.
///
/// Threads: one owner; lives as long as the parser.
class UsageFlags {
 public:
  void add_to(CLI::App& app);
  /// After parsing: what was asked for; none: nothing was.
  std::optional<std::string> text(const CLI::App& app, int section,
                                  std::string_view see_also) const;

 private:
  bool manual_ = false;
  std::string shell_;
};

}  // namespace pareto
