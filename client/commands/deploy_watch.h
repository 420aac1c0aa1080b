// Reports what happens to the pipeline of `deploy`, on stderr and to Prometheus.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/load/lasting_stream.h"
#include "coordinator/load/stream_tally.h"
#include "core/metrics/metric.h"

namespace pareto::client::commands {

/// An observer of the stream that counts losses and changes, and writes a line for each.
///
/// Threads: those of StreamObserver from the stream's, collect() from any. Names:
/// daemon/metrics/METRICS.md.
class DeployWatch final : public load::StreamObserver {
 public:
  /// `ready`: what stands behind "ready: "; `at_first` is called with the first pipeline. All
  /// outlive it.
  DeployWatch(std::ostream& err, const load::StreamTally& tally, std::string model,
              std::string ready, std::function<void()> at_first)
      : err_(err),
        tally_(tally),
        model_(std::move(model)),
        ready_(std::move(ready)),
        at_first_(std::move(at_first)) {}

  /// Returns whether there ever was a pipeline. Call it after the stream.
  bool was_open() const { return pipeline_ != 0; }

  void opened(load::StreamPipeline& pipeline, std::optional<Nanoseconds> after,
              std::size_t again) override;
  void lost(const Error& error, Nanoseconds waits) override;
  /// Says that another plan takes over, described as `ready` was, because devices are lost.
  void takes_over(const std::string& plan, const std::vector<std::string>& lost);
  /// Says that a change to another plan begins, described as `ready` was. Threads: any.
  void changes_to(const std::string& plan);
  void switched(load::StreamPipeline& pipeline, const load::SwitchReport& report) override;
  void stayed(const Error& why) override;
  /// Returns how many plans took requests so far, by changes: 1 at first. Threads: any.
  std::uint64_t epoch() const;
  /// Returns the number of the pipeline that takes requests; 0: there is none. Threads: any.
  std::uint64_t open_pipeline() const;

  metrics::Families collect() const;

 private:
  std::ostream& err_;
  const load::StreamTally& tally_;
  const std::string model_;
  const std::string ready_;
  const std::function<void()> at_first_;
  mutable std::mutex mutex_;
  std::uint64_t pipeline_ = 0;
  bool up_ = false;
  std::uint64_t losses_ = 0;
  std::uint64_t switches_ = 0;
  std::uint64_t refused_ = 0;  ///< changes that were asked for and not made
  std::string next_;           ///< plan of the change that was asked for last
};

}  // namespace pareto::client::commands
