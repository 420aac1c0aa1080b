// Who is waited for, on stderr: a line that changes on a terminal; elsewhere a line at first, and
// one a minute.
#pragma once

#include <optional>
#include <string>

#include "client/command.h"
#include "core/base/clock.h"

namespace pareto::client {

/// A note that is shown until this ends.
///
/// Threads: one owner.
class WaitingNote {
 public:
  /// The context outlives it.
  explicit WaitingNote(const Context& context) : context_(context) {}
  ~WaitingNote();
  WaitingNote(const WaitingNote&) = delete;
  WaitingNote& operator=(const WaitingNote&) = delete;

  void show(const std::string& text);

 private:
  const Context& context_;
  std::optional<TimePoint> said_;
  bool drawn_ = false;
};

}  // namespace pareto::client
