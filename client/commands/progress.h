// Progress on stderr: a bar with the time left on a terminal, now and then a line elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>

#include "core/base/clock.h"

namespace pareto::client {

/// How fast something gets on, from where it was first seen: part of it may have been done before. Something that begins anew is something
/// else.
///
/// Threads: one owner.
class Pace {
 public:
  void see(TimePoint now, std::size_t done);
  /// None before there is a pace.
  std::optional<double> seconds_left(TimePoint now, std::size_t total) const;

 private:
  struct Start {
    TimePoint time;
    std::size_t done;
  };
  std::optional<Start> start_;
  std::size_t done_ = 0;
};

/// Threads: one owner.
class Progress {
 public:
  /// columns: of the terminal; 0 = not a terminal.
  Progress(std::ostream& err, int columns);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `phase`: what a new line is worth where there is no terminal ("round 2/3"); `now`: what is in hand.
  void show(std::size_t done, std::size_t total, const std::string& phase, const std::string& now);
  /// Takes the bar away, so that other text may follow.
  void clear();

 private:
  std::string time_left(std::size_t total) const;

  std::ostream& err_;
  const int columns_;
  Pace pace_;
  std::string phase_;
  std::size_t tenth_ = 0;
  bool drawn_ = false;
};

}  // namespace pareto::client
