// A lasting stream changes its pipeline while it runs.
//
//   somebody ──SwitchDesk::ask──▶ the stream: PipelineSwitch opens the next pipeline next to the
//       running one ──▶ requests enter the next one, results of both in order ──▶ SwitchReport
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "coordinator/load/request_stream.h"
#include "coordinator/load/stream_pipeline.h"
#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::load {

/// The pipeline that a stream is to change to, and how requests go through it.
struct SwitchRequest {
  std::unique_ptr<PipelineOpener> opener;
  StreamOptions stream;
};

/// A change that was made.
struct SwitchReport {
  Nanoseconds opening{};  ///< time in which the next pipeline was opened and primed
  /// Longest time between two results while the next pipeline took over. No value: there was none.
  std::optional<Nanoseconds> gap;
  std::optional<Nanoseconds> period;   ///< mean time between results before
  std::optional<Nanoseconds> latency;  ///< latency of the next pipeline's first result
  /// Why the pipeline before broke before it had answered all; no value: it did not.
  std::optional<Error> lost;
  std::size_t sent_again = 0;  ///< requests that it had not answered then: the next one got them
};

/// The place to ask for a change. One is made after the other.
///
/// Threads: ask() from any; the others from the stream's.
class SwitchDesk {
 public:
  /// Waits until the change is made, or refused. Fails: with why it was not made, and the pipeline
  /// before goes on; kClosed (the stream has ended).
  Expected<SwitchReport> ask(SwitchRequest request);

  /// Sets what is called when somebody asks.
  void open(std::function<void()> asked);
  /// Takes what is asked for, if anything is. It is to be answered.
  std::optional<SwitchRequest> take();
  bool is_asked() const;
  void answer(Expected<SwitchReport> report);
  /// Refuses all that is asked for from now on. A second call has no effect.
  void close();

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> on_ask_;
  bool busy_ = false;  ///< somebody asks
  bool closed_ = false;
  std::optional<SwitchRequest> asked_;
  std::optional<Expected<SwitchReport>> answer_;
};

/// The next pipeline while it is opened. Threads: one owner; one of its own.
class PipelineSwitch {
 public:
  /// `opened` is called by the thread of its own when the pipeline is open or cannot be.
  PipelineSwitch(SwitchRequest request, std::function<void()> opened);

  bool has_opened() const { return opened_; }
  PipelineOpener& opener() { return *request_.opener; }
  /// Waits until it is open. Fails: as PipelineOpener::open(). Call it once.
  Expected<std::unique_ptr<StreamPipeline>> take_pipeline();
  /// Takes what was asked for, after take_pipeline().
  SwitchRequest take_request() { return std::move(request_); }
  Nanoseconds opening() const { return opening_; }

 private:
  SwitchRequest request_;
  Expected<std::unique_ptr<StreamPipeline>> pipeline_;
  Nanoseconds opening_{};
  std::atomic<bool> opened_{false};
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace pareto::load
