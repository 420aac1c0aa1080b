// A stream of requests that outlives its pipelines. If a pipeline is lost, another is opened in its
// place, and the requests that the lost one did not answer are sent again.
//
//   opening ──▶ streaming ──a device is lost──▶ waiting ──it is back──▶ streaming …
//                   │ requests end                 │ it is not back in time, or somebody stops it
//                   ▼                              ▼
//                  done                         given up: each request that is left is told so
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "coordinator/load/request_stream.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/transport.h"

namespace pareto::load {

/// A pipeline while it is open. Threads: one owner; find_loss() from one other, links as they say.
class StreamPipeline {
 public:
  virtual ~StreamPipeline() = default;
  virtual transport::Link& source() = 0;
  virtual transport::Link& sink() = 0;
  virtual std::uint64_t number() const = 0;
  /// Asks its devices, for `patience` at most, whether one is lost. Returns no value if all are
  /// there and run their stages. Otherwise the error names stage and device; kTimeout if the device
  /// does not answer.
  virtual std::optional<Error> find_loss(std::chrono::milliseconds patience) = 0;
  /// Says where the requests are that nobody has answered, to be put behind an error; or nothing.
  virtual std::string where_requests_wait(std::chrono::milliseconds /*patience*/) { return {}; }
  /// Abandons the pipeline, which is lost: its end waits for nobody.
  virtual void abandon() = 0;
};

/// Opens pipelines of one plan, one after the other. Threads: one owner.
class PipelineOpener {
 public:
  virtual ~PipelineOpener() = default;
  /// Opens a pipeline. The one before has ended. Fails: as devices and links do; the sentence names
  /// what is missing.
  virtual Expected<std::unique_ptr<StreamPipeline>> open() = 0;
  /// Makes a call that is under way, open() or the end of a pipeline, wait for no device; no
  /// pipeline is opened after it. Called from another thread than that call's.
  virtual void hurry() {}
};

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
};

struct LastingOptions {
  StreamOptions stream;
  /// The time for which devices that were lost are waited for; 0: the first loss ends the stream.
  Nanoseconds retry = std::chrono::seconds(60);
  Nanoseconds watch_every = std::chrono::seconds(1);  ///< how often devices are asked
  /// A device is lost if it does not answer for this time, and for 20 times its slowest answer. It
  /// is not lost if results come later than a second after it was asked.
  std::chrono::milliseconds patience{3000};
  /// Replaces `patience` once somebody wants to stop.
  std::chrono::milliseconds last_patience{1000};
  /// The pause between attempts to open a pipeline again: this at first, twice as long each time,
  /// up to 2 s.
  Nanoseconds first_pause = std::chrono::milliseconds(200);
  int stop = -1;  ///< readable once somebody wants to stop; -1: never
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
