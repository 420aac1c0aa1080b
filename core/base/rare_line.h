// Lines of the log that others can cause: only a few are written in a time, with how often they
// were due.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "core/base/clock.h"

namespace pareto {

/// Decides when a line of the log is due, and counts how often it would have been.
///
/// Threads: one owner.
class RareLine {
 public:
  /// Only the first `most` lines of each period are due; the first line begins the first period.
  explicit RareLine(Nanoseconds period, std::size_t most = 1) : period_(period), most_(most) {}

  /// Counts one more. Returns how many there were since the last line if another is due.
  std::optional<std::size_t> due(TimePoint now) {
    ++times_;
    if (!begin_ || now - *begin_ >= period_) {
      begin_ = now;
      lines_ = 0;
    }
    if (lines_ == most_) return std::nullopt;
    ++lines_;
    return std::exchange(times_, 0);
  }

 private:
  const Nanoseconds period_;
  const std::size_t most_;
  std::size_t times_ = 0;  ///< since the last line
  std::size_t lines_ = 0;  ///< of this period
  Deadline begin_{};       ///< of this period; no value: there was no line yet
};

/// Returns what a line ends with that was due so often: nothing if it was once.
inline std::string since_last_line(std::size_t times) {
  return times == 1 ? "" : fmt::format(" ({} since the last such line)", times);
}

}  // namespace pareto
