// An epoch of a lasting stream: one pipeline, and the requests that it takes.
//
//   RequestBacklog ──RequestTaker──▶ run_stream() through the pipeline ──▶ OrderedResults
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "coordinator/load/ordered_results.h"
#include "coordinator/load/pipeline_watch.h"
#include "coordinator/load/request_backlog.h"
#include "coordinator/load/request_stream.h"
#include "coordinator/load/stream_pipeline.h"
#include "core/base/error.h"

namespace pareto::load {

/// End of an epoch, and its cause.
struct EpochEnd {
  std::optional<Error> loss;  ///< no value: each of its requests was answered
  /// The time of the first request that is unanswered ran out, and no device is to blame.
  bool own_time = false;
  std::vector<StreamRequest> unanswered;
};

/// Streams from its construction on, whenever the backlog says that it is its turn. Watches its
/// devices meanwhile.
///
/// Threads: one owner; some of its own.
class StreamEpoch {
 public:
  /// `changed` is called when it has ended and, while it is watched closely, with each result; by
  /// threads of its own. All that is passed by reference outlives it.
  StreamEpoch(std::unique_ptr<StreamPipeline> pipeline, StreamOptions stream,
              const WatchOptions& watch, RequestBacklog& backlog, OrderedResults& results,
              std::function<void()> changed);
  /// Breaks it off if it has not ended. The pipeline ends with it.
  ~StreamEpoch();
  StreamEpoch(const StreamEpoch&) = delete;
  StreamEpoch& operator=(const StreamEpoch&) = delete;

  StreamPipeline& pipeline() { return *pipeline_; }
  RequestTaker& taker() { return taker_; }
  RequestTaker::Counts counts() const { return taker_.counts(); }
  const StreamOptions& stream() const { return stream_; }
  /// Returns the latency of its first answer; no value: there was none yet.
  std::optional<Nanoseconds> first_latency() const;

  /// Calls `changed` with each result from now on, or no more.
  void watch_closely(bool closely) { closely_ = closely; }
  bool has_ended() const { return ended_; }
  /// Closes the links, so that it ends soon.
  void break_off();
  /// Waits for its end.
  EpochEnd& end();

 private:
  /// Hands results on and counts them. Threads: as RequestSink.
  class Results final : public RequestSink {
   public:
    explicit Results(StreamEpoch& epoch) : epoch_(epoch) {}
    void done(StreamResult result) override;

   private:
    StreamEpoch& epoch_;
  };

  void run();

  const std::unique_ptr<StreamPipeline> pipeline_;
  const StreamOptions stream_;
  const WatchOptions& watch_;
  OrderedResults& results_;
  const std::function<void()> changed_;
  RequestTaker taker_;
  std::atomic<TimePoint> last_result_{TimePoint::min()};
  std::atomic<Nanoseconds> first_latency_{Nanoseconds(-1)};
  std::atomic<bool> closely_{false};
  std::atomic<bool> ended_{false};
  EpochEnd end_;
  std::jthread running_;  // last: it uses all of the above
};

}  // namespace pareto::load
