// Time through a seam: code that waits or measures takes a Clock, so that tests can pass a fake
// one.
#pragma once

#include <chrono>
#include <cmath>
#include <optional>

namespace pareto {

using Nanoseconds = std::chrono::nanoseconds;
/// A point on this process's own monotonic clock. Points of different processes are never
/// subtracted.
using TimePoint = std::chrono::steady_clock::time_point;

/// Returns the moment.
inline TimePoint now() { return std::chrono::steady_clock::now(); }

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
};

/// The machine's monotonic clock. Threads: any.
class SteadyClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::steady_clock::now(); }
};

/// The moment after which a blocking call gives up with ErrorCode::kTimeout; none = it waits for
/// ever (until data, or a close).
using Deadline = std::optional<TimePoint>;

inline Deadline deadline_after(std::chrono::nanoseconds duration) {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(duration);
}

// Durations as numbers to calculate with, and back.
inline double to_nanoseconds(Nanoseconds duration) { return static_cast<double>(duration.count()); }

inline double to_milliseconds(Nanoseconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

inline double to_seconds(Nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Rounds to the nearest nanosecond; halves away from zero. The argument must be finite, and within
/// the 292 years on either side.
inline Nanoseconds from_nanoseconds(double nanoseconds) {
  return Nanoseconds(std::llround(nanoseconds));
}

}  // namespace pareto
