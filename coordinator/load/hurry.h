// Hurries an opener as soon as somebody wants to stop.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <thread>

#include "coordinator/load/pipeline_watch.h"
#include "coordinator/load/stream_pipeline.h"
#include "core/base/clock.h"
#include "core/base/file_descriptor.h"

namespace pareto::load {

/// Hurries what the opener does, for as long as it lives, once `stop` is readable. Threads: one
/// owner; one of its own.
class Hurry {
 public:
  Hurry(PipelineOpener& opener, int stop)
      : done_(::eventfd(0, EFD_CLOEXEC)), waiting_([this, &opener, stop] {
          if (wait_for_stop(stop, done_.get(), kLongestCall) == Woken::kStop) opener.hurry();
        }) {}
  ~Hurry() {
    const std::uint64_t once = 1;
    static_cast<void>(!::write(done_.get(), &once, sizeof once));
  }
  Hurry(const Hurry&) = delete;
  Hurry& operator=(const Hurry&) = delete;

 private:
  /// The longest time that a pipeline takes to end, or to be opened.
  static constexpr Nanoseconds kLongestCall = std::chrono::hours(1);

  const FileDescriptor done_;
  const std::jthread waiting_;  // last: it uses the other, and is joined first
};

}  // namespace pareto::load
