// Pipelines of a stream that outlives them, and what opens them.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/transport/transport.h"

namespace pareto::load {

/// A pipeline while it is open. Threads: one owner; find_loss() from any, links as they say.
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
  /// Opens a pipeline. The one that it opened before has ended; one of another opener may run, or
  /// be opened, on the same devices. Fails: as devices and links do; the sentence names what is
  /// missing.
  virtual Expected<std::unique_ptr<StreamPipeline>> open() = 0;
  /// Gives back what only pipelines that have ended needed.
  virtual void release_unused() {}
  /// Makes a call that is under way, open() or the end of a pipeline, wait for no device; no
  /// pipeline is opened after it. Called from another thread than that call's.
  virtual void hurry() {}
};

}  // namespace pareto::load
