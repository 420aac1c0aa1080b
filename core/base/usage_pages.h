// Arguments of a program, read off its command line parser. They are the one source of --help, the
// manual page, the pages of docs/reference and the completions of shells.
//
//   CLI::App ──usage_of──▶ Usage ──▶ help_page, manual_page (troff), reference_page (Markdown),
//                                    completion (bash, zsh)
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace CLI {
class App;
}  // namespace CLI

namespace pareto::usage {

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

/// Removes from a parser's error what set_value() put into the type of an option.
std::string without_proposals(std::string error);

/// Writes a usage so that another program can read it again. Fails: kCorrupt.
std::string to_json(const Usage& usage);
Expected<Usage> usage_from_json(std::string_view text);

/// Returns what --help prints. parent: "paretoctl " for one of its commands. columns: of the
/// terminal; 0 means none.
std::string help_page(const Usage& usage, int columns, std::string_view parent = "");

/// Writes a page for man(1), of this version of the program. see_also: as "paretod(8)".
std::string manual_page(const Usage& usage, int section, std::string_view see_also);

/// Returns a page of docs/reference, in Markdown. parent: "paretoctl " for one of its commands.
std::string reference_page(const Usage& usage, std::string_view parent = "");

/// Returns the script that bash or zsh reads to complete the program's arguments.
std::string bash_completion(const Usage& usage);
std::string zsh_completion(const Usage& usage);

}  // namespace pareto::usage
