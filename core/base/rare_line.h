// A line of the log that strangers can cause: it is written once in a while, with how often it was
// due.
#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "core/base/clock.h"

namespace pareto {

/// Decides when a line of the log is due, and counts how often it would have been.
///
/// Threads: one owner.
class RareLine {
 public:
  /// At most one line is due in `between`.
  explicit RareLine(Nanoseconds between) : between_(between) {}

  /// Counts one more. Returns how many there were since the last line if another is due.
  std::optional<std::size_t> due(TimePoint now) {
    ++times_;
    if (told_ && now - *told_ < between_) return std::nullopt;
    told_ = now;
    return std::exchange(times_, 0);
  }

 private:
  const Nanoseconds between_;
  std::size_t times_ = 0;
  Deadline told_{};  ///< no value: never
};

}  // namespace pareto
