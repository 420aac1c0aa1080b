// One daemon, a process of its own, that several pipelines share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "coordinator/cluster/process.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/bench/pipelines.h"

namespace pareto::bench {

/// A daemon that runs until this ends.
///
/// Threads: one owner; cpu_time() from any.
class SharedDaemon {
 public:
  /// Starts a daemon with these flags. Fails: as ChildProcess does.
  static Expected<std::unique_ptr<SharedDaemon>> start(std::vector<std::string> flags);

  /// Returns pipelines of a model over this daemon, as those of another coordinator.
  Expected<std::unique_ptr<Pipelines>> connect(const std::string& model) const;
  /// Returns the processor time that the daemon has used so far, as top counts it.
  Expected<Nanoseconds> cpu_time() const;

 private:
  SharedDaemon() = default;

  std::unique_ptr<TemporaryFolder> folder_;
  std::vector<cluster::ChildProcess> process_;
  std::string control_;
};

/// Requests that were sent at a pace.
struct PacedRequests {
  std::vector<double> latencies;  ///< latencies of those that were computed, in milliseconds
  int dropped = 0;                ///< those whose deadline passed before

  /// Returns how many took longer than that, dropped ones included.
  int missed(Nanoseconds deadline) const;
};

/// A model as a whole on that daemon, in one stage.
class SharedPipeline {
 public:
  static Expected<std::unique_ptr<SharedPipeline>> open(
      const SharedDaemon& daemon, const std::string& model,
      const cluster::DeploymentOptions& options = {});

  const Value& request() const { return pipelines_->request(); }
  cluster::Deployment& deployment() { return *deployment_; }
  /// Keeps `window` requests in flight for `duration`.
  Expected<load::LoadResult> load(int window, Nanoseconds duration) {
    return pipelines_->load(*deployment_, window, duration);
  }
  /// Sends a request every `interval`, or as soon as the one before is back, for `duration`. With a
  /// deadline, devices drop those that are late. Fails: as links do, and as a request does for
  /// another reason.
  Expected<PacedRequests> pace(Nanoseconds interval, Nanoseconds duration,
                               Nanoseconds deadline = {});

 private:
  std::unique_ptr<Pipelines> pipelines_;
  std::unique_ptr<cluster::Deployment> deployment_;
  std::uint64_t sent_ = 0;  ///< number of requests of pace(), which is not mixed with load()
};

/// A load that goes on in a thread of its own until wait(). It outlives neither its pipeline nor
/// its error.
class BackgroundLoad {
 public:
  BackgroundLoad(SharedPipeline& pipeline, int window, Nanoseconds duration);
  /// Waits for its end. Fails: as Load::run.
  Expected<load::LoadResult> wait();

 private:
  Expected<load::LoadResult> result_;
  std::jthread thread_;
};

}  // namespace pareto::bench
