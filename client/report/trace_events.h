// Events of Chrome's trace event format, as ui.perfetto.dev and chrome://tracing read it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/clock.h"

namespace pareto::report {

double microseconds(Nanoseconds duration);
/// Returns a number of microseconds rounded to the nanosecond, so that numbers stay short.
double rounded_us(double us);

/// A time between two moments, in microseconds.
struct Span {
  double start = 0;
  double duration = 0;
  double end() const { return start + duration; }
};

/// One row of the picture.
struct Track {
  int process = 0;
  int thread = 0;
};

/// A list of events that grows, with the names of processes and threads.
///
/// Threads: one owner.
class Events {
 public:
  void name_process(int process, const std::string& name);
  void name_thread(Track track, const std::string& name);
  void complete(const std::string& name, Track track, Span span, nlohmann::ordered_json args);
  /// Draws an arrow of that kind. `phase`: "s" begins at the event that starts here, "t" passes it,
  /// "f" ends there.
  void arrow(const char* kind, const char* phase, Track track, double at, std::uint64_t number);
  /// Returns all events so far as a list.
  nlohmann::ordered_json take();

 private:
  void name_it(const char* what, Track track, nlohmann::ordered_json args);

  nlohmann::ordered_json events_ = nlohmann::ordered_json::array();
};

}  // namespace pareto::report
