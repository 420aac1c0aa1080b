// Progress on stderr: a bar with the time left on a terminal, elsewhere a line a minute, and one
// when something else begins.
#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace pareto::client {

/// How fast something gets on. It counts from the first unit that was seen to end: part may have
/// been done before, and what goes before the first unit (shards are loaded, connections opened)
/// says nothing of the others. Something that begins anew is something else.
///
/// Threads: one owner.
class Pace {
 public:
  void see(TimePoint now, std::size_t done);
  /// Returns none until the pace is steady: three units were seen, and the last quarter of all seen
  /// took as long as the quarter before, give or take a half. A time that would be taken back a
  /// moment later is not said.
  std::optional<double> seconds_left(TimePoint now, std::size_t total) const;

 private:
  struct Seen {
    TimePoint time;
    std::size_t done;
  };
  double seconds_a_unit(const Seen& since, TimePoint now) const;
  const Seen& seen_at(std::size_t done) const;

  std::optional<std::size_t> first_;  ///< done when it was first seen
  std::vector<Seen> seen_;            ///< each time that more was done
  std::size_t done_ = 0;
};

/// Threads: one owner.
class Progress {
 public:
  /// columns: of the terminal; 0 = not a terminal. The clock outlives this object.
  Progress(std::ostream& err, int columns);
  Progress(std::ostream& err, int columns, const Clock& clock);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `phase`: what a line names if there is no terminal ("round 2/3"); `now`: what is in hand,
  /// which the bar names. `most_left`: all the time that is left, if it is known; the end may come
  /// sooner.
  void show(std::size_t done, std::size_t total, const std::string& phase, const std::string& now,
            std::optional<double> most_left_s = std::nullopt);
  /// Takes the bar away, so that other text may follow.
  void clear();

 private:
  std::string time_left(std::size_t total, std::optional<double> most_left_s) const;

  std::ostream& err_;
  const int columns_;
  Pace pace_;
  const Clock& clock_;
  std::string doing_;              ///< what the last line was about
  std::optional<TimePoint> said_;  ///< when the last line was written; none: nothing was yet
  bool drawn_ = false;
};

}  // namespace pareto::client
