// A stream of requests that outlives its pipelines. If a pipeline is lost, another is opened in its
// place, and the requests that the lost one did not answer are sent again. While it runs, it may
// change to another pipeline (coordinator/load/pipeline_switch.h).
//
//   opening ──▶ streaming ──a device is lost──▶ waiting ──it is back──▶ streaming …
//                   │ requests end                 │ it is not back in time, or somebody stops it
//                   ▼                              ▼
//                  done                         given up: each request that is left is told so
//
//   streaming ──a change is asked for──▶ opening the next ──▶ both: the next takes requests, the
//       running one answers what it has ──▶ streaming through the next
//   If the next one cannot be opened, or breaks before the other has answered all, the other goes
//   on.
//
//   opening the next ──the running one is lost──▶ waiting, while the next is still being opened:
//       whichever is open first takes the requests
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "coordinator/load/pipeline_switch.h"
#include "coordinator/load/pipeline_watch.h"
#include "coordinator/load/request_stream.h"
#include "coordinator/load/stream_pipeline.h"
#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::load {

/// An observer of the pipelines of a stream. Threads: called from the stream's own.
class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  /// Reports that a pipeline is open. `after` is how long there was none; no value means that it is
  /// the first. `again` requests of the one before are sent again.
  virtual void opened(StreamPipeline& pipeline, std::optional<Nanoseconds> after,
                      std::size_t again) = 0;
  /// Reports that a pipeline is lost. `waits`: for how long its devices are waited for; 0: not at
  /// all.
  virtual void lost(const Error& error, Nanoseconds waits) = 0;
  /// Reports that requests go through another pipeline now, and the one before has ended.
  virtual void switched(StreamPipeline& /*pipeline*/, const SwitchReport& /*report*/) {}
  /// Reports that a change was asked for and not made: the pipeline before goes on.
  virtual void stayed(const Error& /*why*/) {}
};

struct LastingOptions : WatchOptions {
  StreamOptions stream;
  /// The time for which devices that were lost are waited for; 0: the first loss ends the stream.
  Nanoseconds retry = std::chrono::seconds(60);
  /// The pause between attempts to open a pipeline again: this at first, twice as long each time,
  /// up to 400 ms.
  Nanoseconds first_pause = std::chrono::milliseconds(200);
  /// A change is complete when the next pipeline has answered a request, or none came for so long.
  Nanoseconds idle = std::chrono::seconds(1);
  /// The desk at which changes are asked for; null: none are made. It is closed at the end.
  SwitchDesk* desk = nullptr;
};

/// Returns when the requests have ended and each has its result, an error included. A request whose
/// pipeline was lost three times, or whose own time ran out on devices that are all well, fails
/// alone. Fails: as PipelineOpener::open() at first; later with what was lost for good. Each
/// request that was accepted has a result then too: failed if it had been sent, else
/// StreamResult::sent is false.
Expected<> run_lasting_stream(PipelineOpener& opener, const LastingOptions& options,
                              RequestSource& requests, RequestSink& results,
                              StreamObserver& observer);

}  // namespace pareto::load
