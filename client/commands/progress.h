// Progress on stderr: a bar on a terminal. Elsewhere a line after ten seconds, later one a minute,
// and one when something else begins. It says how long the work has taken so far. It says how long
// is left only if a budget limits it. Units of work differ too much in length to foretell the rest
// from those that ended.
#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>

#include "core/base/clock.h"

namespace pareto::client::commands {

/// The line or bar of one piece of work.
///
/// Threads: one owner.
class Progress {
 public:
  /// columns: width of the terminal; 0 means that there is none. The time so far counts from here.
  /// The clock outlives this object.
  Progress(std::ostream& err, int columns);
  Progress(std::ostream& err, int columns, const Clock& clock);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows progress. `phase` is what a line names if there is no terminal ("round 2/3"), and `now`
  /// what the bar names. `most_left_s` are the seconds that a budget leaves; the end may come
  /// sooner. With it `done` and `total` are seconds of the budget.
  void show(std::size_t done, std::size_t total, const std::string& phase, const std::string& now,
            std::optional<double> most_left_s = std::nullopt);
  /// Takes the bar away, so that other text may follow.
  void clear();

 private:
  std::string time_text(std::optional<double> most_left_s) const;

  std::ostream& err_;
  const int columns_;
  const Clock& clock_;
  const TimePoint begun_;
  std::string doing_;              ///< step that the last line was about
  std::optional<TimePoint> said_;  ///< when the last line was written; no value means that none was
  bool drawn_ = false;
};

}  // namespace pareto::client::commands
