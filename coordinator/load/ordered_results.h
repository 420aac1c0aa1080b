// Results of several pipelines in the order of their requests, each once.
//
//   pipeline e     ──0 1 2 . . 5──▶ OrderedResults ──0 1 2 3 4 5 6──▶ RequestSink
//   pipeline e + 1 ──3 4 6────────▶   (holds what comes before its turn)
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "coordinator/load/request_stream.h"
#include "core/base/clock.h"

namespace pareto::load {

/// Delivers results by StreamResult::place, from 0 without a gap. A result waits until those before
/// it have been delivered; the backlog bounds how many wait (RequestBacklog). A second result of a
/// place is dropped.
///
/// Threads: any; one at a time calls the sink.
class OrderedResults final : public RequestSink {
 public:
  /// The sink outlives it.
  explicit OrderedResults(RequestSink& sink) : sink_(sink) {}

  void done(StreamResult result) override;
  /// Returns how many were delivered: those of the places below it.
  std::uint64_t delivered() const;
  /// Returns how many wait for those before them.
  std::size_t held() const;

  /// The time between results that were delivered one after the other.
  struct Rhythm {
    std::optional<Nanoseconds> period;  ///< mean of the last before begin_gap(), if there were two
    std::optional<Nanoseconds> gap;     ///< longest since then; no value: none was delivered
  };
  /// Begins to look for the longest gap. The time since the last result counts.
  void begin_gap();
  /// Ends that.
  Rhythm end_gap();

 private:
  void deliver(StreamResult result, TimePoint now);

  RequestSink& sink_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, StreamResult> held_;
  std::uint64_t next_ = 0;
  std::optional<TimePoint> last_;
  double mean_ns_ = 0;  ///< a mean of the intervals that forgets old ones
  std::uint64_t intervals_ = 0;
  bool in_gap_ = false;
  Rhythm rhythm_;
};

}  // namespace pareto::load
