// Lines of a descriptor as they come, until it ends or somebody wants the program to stop.
#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto::client {

/// Threads: next() from one, cancel() from any.
class LineReader {
 public:
  /// Opens a reader of `input`, which stays open and the caller's. `stop` becomes readable when no
  /// more lines are wanted; -1 means never.
  static Expected<LineReader> of(int input, int stop);

  /// Returns the next line without its end ("\n", "\r\n"); the last one need not have any. No value
  /// means the input has ended or failed, or no more are wanted.
  std::optional<std::string> next();
  /// Wakes next(), which returns none from then on.
  void cancel() const;

 private:
  LineReader(int input, int stop, FileDescriptor wake)
      : input_(input), stop_(stop), wake_(std::move(wake)) {}
  /// Waits for more; false: there is none.
  bool fill();

  int input_;
  int stop_;
  FileDescriptor wake_;
  std::string buffer_;
  bool ended_ = false;
};

}  // namespace pareto::client
