// The subcommands of paretoctl. A plug: one file in client/commands that implements Command, one
// line in builtin_commands.cc.
#pragma once

#include <atomic>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"

namespace CLI {
class App;
}

namespace pareto::client {

/// Somebody may want the program to stop: Ctrl-C, SIGTERM, a terminal that goes.
class StopSignal {
 public:
  virtual ~StopSignal() = default;
  /// Makes such a signal set the flag, from now on, and not end the process. Must be called before
  /// libraries make threads, so that those threads inherit the blocked signals. The flag lives as
  /// long as this object.
  virtual const std::atomic<bool>& watch() = 0;
  /// Returns a descriptor that becomes readable at that signal, for those who wait for something
  /// else too. -1 means that there is none. Call it after watch().
  virtual int descriptor() const { return -1; }
  /// Prints this sentence, which lives for ever, on stderr at the first such signal from now on.
  virtual void announce(const char* /*sentence*/) {}
  /// Like announce(), but ends the process at that signal: there is nothing yet to end in order.
  /// Has an effect after watch(), until announce() is called.
  virtual void leave_at_once(const char* /*sentence*/) {}
};

/// The phases of a command. A device that cannot be reached, or bytes that are damaged, mean
/// something else in each.
enum class Phase {
  kPreparing,  ///< flags and files are read, devices are connected to and asked
  kRunning,    ///< devices work; what goes wrong now is a failure, not a wrong flag, file or
               ///< environment
};

/// The parts of the world that a command may touch.
struct Context {
  std::ostream& out;  ///< results only, for people and for --json
  std::ostream& err;  ///< progress and notes
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool colour = false;  ///< colour on `out`
  int columns = 0;      ///< width of the terminal; 0 = no limit
  int input = 0;        ///< descriptor of what is piped in
  std::string command_line;
  std::filesystem::path paretod;        ///< the daemon of this build
  std::filesystem::path default_store;  ///< file where results are kept by default
  std::string credentials{};            ///< folder used if no other is named; "": the usual one
  std::string devices{};                ///< used if no others are named, as --devices takes them
  Phase phase = Phase::kPreparing;      ///< set by commands; the exit code of an error follows
  StopSignal& stop;
};

/// Exit codes, as documented in --help.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitEnvironment = 3;
inline constexpr int kExitPartial = 4;

/// One word of the command line, with its options and its help.
///
/// Threads: one owner. Options live in the command: add_options binds them, run reads them.
class Command {
 public:
  virtual ~Command() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;   ///< one line for the list
  virtual std::string_view examples() const = 0;  ///< shown below its own help
  virtual void add_options(CLI::App& app) = 0;
  /// Returns the exit code. main prints an error once; its code and the context's phase decide
  /// between 1, 2 and 3.
  virtual Expected<int> run(Context& context) = 0;
};

using Commands = std::vector<std::unique_ptr<Command>>;

Commands builtin_commands();

}  // namespace pareto::client
