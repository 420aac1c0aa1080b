// Counts, rate and times of a stream's requests.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "coordinator/load/request_stream.h"
#include "core/base/clock.h"
#include "core/base/duration_histogram.h"

namespace pareto::load {

/// Durations by size, in steps of a quarter percent: quantiles of a stream without an end in
/// bounded memory. Threads: one owner.
class LatencyCounts {
 public:
  void add(Nanoseconds latency);
  std::uint64_t count() const { return count_; }
  /// Returns a duration that was added, which a share `q` of all is not above: the smallest, or one
  /// up to a quarter percent larger. At least one was added.
  Nanoseconds quantile(double q) const;

 private:
  struct Step {
    std::uint64_t count = 0;
    Nanoseconds largest{};
  };
  std::map<int, Step> steps_;
  std::uint64_t count_ = 0;
};

/// Counts of results, with their latencies and the time from the first to the last.
///
/// Threads: any.
class StreamTally {
 public:
  /// Adds a result. `failed`: also if only what was to be done with it failed.
  void add(const StreamResult& result, bool failed, TimePoint now);
  /// Requests that were never taken from where they come from.
  void add_not_sent(std::uint64_t requests);

  struct Counts {
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    std::uint64_t not_sent = 0;
    std::uint64_t sent_again = 0;  ///< requests of those done that were sent again
    std::uint64_t all() const { return done + failed + not_sent; }
  };
  Counts counts() const;
  /// Latencies of those that were done.
  DurationCounts latencies() const { return histogram_.read(); }
  /// Returns "7 requests, 3 failed, 1 not sent; 12.3/s, latency 8.1 ms p50, 9.9 p95, 12.0 p99,
  /// 8300.1 the longest, 2 sent again". Names the rate from two requests on that were done, and the
  /// longest where one was sent again.
  std::string summary() const;

 private:
  mutable std::mutex mutex_;
  Counts counts_;
  LatencyCounts done_;
  DurationHistogram histogram_;
  Nanoseconds shortest_{};
  Nanoseconds longest_{};
  std::optional<TimePoint> first_sent_;
  TimePoint last_done_{};
};

}  // namespace pareto::load
