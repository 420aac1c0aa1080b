// Arguments of a program, read off its command line parser. They are the one source of --help, the
// manual page, the pages of docs/reference and the completions of shells.
//
//   CLI::App ──usage_of──▶ Usage ──▶ help_page, manual_page (troff), reference_page (Markdown),
//                                    completion (bash, zsh)
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pareto {

struct OptionUsage {
  std::vector<std::string>
      names;          ///< "-o", "--output"; of a positional argument one without dashes
  std::string value;  ///< "FILE"; empty: a flag
  std::vector<std::string> choices;    ///< the only values there are; empty: not so
  std::vector<std::string> proposals;  ///< values that a shell proposes, as set_value() takes them
  std::string initial;                 ///< the default, where it is to be shown
  std::string help;
  std::string group;  ///< the heading that it stands under in --help
  bool required = false;
  bool repeated = false;

  bool positional() const { return !names.front().starts_with('-'); }
  /// Returns what stands behind the name in --help: the value's name, or its choices if they are
  /// short.
  std::string shown_value() const;
  /// Returns the help with the choices that shown_value() leaves out, the default, and
  /// "(required)".
  std::string description() const;
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

/// Options under one heading of --help.
struct OptionGroup {
  std::string heading;
  std::vector<const OptionUsage*> options;  ///< options of a Usage that outlives this
};
/// Groups options as --help does: arguments, then each heading, and last the options that all
/// commands have. Groups without an option are left out.
std::vector<OptionGroup> option_groups(const Usage& usage);
/// Returns "prog go [OPTIONS] action [which]". parent: "prog " for one of its commands.
std::string usage_line(const Usage& usage, std::string_view parent);

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
  ~Heading();
  Heading(const Heading&) = delete;
  Heading& operator=(const Heading&) = delete;

 private:
  CLI::App& app_;
  const std::string before_;
};

/// Removes from a parser's error what set_value() put into the type of an option.
std::string without_proposals(std::string error);

/// Writes a usage so that another program can read it again. Fails: kCorrupt.
std::string to_json(const Usage& usage);
Expected<Usage> usage_from_json(std::string_view text);

/// Returns what --help prints. parent: "paretoctl " for one of its commands. columns: of the
/// terminal; 0 means none.
std::string help_page(const Usage& usage, int columns, std::string_view parent = "");

/// Sets the format of --help for the parser and the commands added to it from now on: lines of at
/// most `columns` columns (0: no terminal).
void set_help_format(CLI::App& app, int columns);

/// Writes a page for man(1), of this version of the program. see_also: as "paretod(8)".
std::string manual_page(const Usage& usage, int section, std::string_view see_also);

/// Returns a page of docs/reference, in Markdown. parent: "paretoctl " for one of its commands.
std::string reference_page(const Usage& usage, std::string_view parent = "");

/// Returns the script that bash or zsh reads to complete the program's arguments.
std::string bash_completion(const Usage& usage);
std::string zsh_completion(const Usage& usage);

/// The flags --manual and --completion, by which a program prints these. Two hidden ones are for
/// builds: --usage prints to_json(), and --reference COMMAND (or the program's name) a page.
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
