// Lines of a descriptor as they come, until it ends or somebody wants the program to stop.
#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto::client::commands {

/// A reader of lines, each of at most 1 MiB.
///
/// Threads: next() from one, cancel() from any.
class LineReader {
 public:
  /// Opens a reader of `input`, which stays open and the caller's. `stop` becomes readable when no
  /// more lines are wanted; -1 means never.
  /// `grows`: the input is a file to which lines are still added, until one that is only a dot.
  static Expected<LineReader> of(int input, int stop, bool grows = false);

  /// Returns the next line without its end ("\n", "\r\n"); the last one need not have any. No value
  /// means the input has ended or failed, or no more are wanted.
  std::optional<std::string> next();
  /// Returns whether next() has come to the end of the input, and to nothing before it.
  bool came_to_end() const { return came_to_end_; }
  /// Returns why the input could not be read on; no value: it could.
  const std::optional<Error>& problem() const { return problem_; }
  /// Wakes next(), which returns none from then on.
  void cancel() const;

 private:
  LineReader(int input, int stop, FileDescriptor wake, bool grows)
      : input_(input), stop_(stop), wake_(std::move(wake)), grows_(grows) {}
  /// Waits until there may be more; false: none is wanted.
  bool wait_for_input() const;
  /// Waits for more; false: there is none.
  bool fill();

  int input_;
  int stop_;
  FileDescriptor wake_;
  bool grows_;
  std::string buffer_;
  bool ended_ = false;
  bool at_end_ = false;  ///< nothing is left to be read
  bool came_to_end_ = false;
  std::optional<Error> problem_;
};

}  // namespace pareto::client::commands
