// Measures a shard as what it will be: a stage, with a real pipeline around it.
//
//   coordinator ══ link ══▶ [ one stage ] ══ link ══▶ coordinator
//
// A loop around the shard would miss three things: threads that wake up, caches that others have
// used meanwhile, and messages that are received and sent while it computes.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_set.h"
#include "coordinator/load/load.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/tensor/value.h"

namespace pareto::profile {

/// Medians of requests, one at a time.
struct LoneTimes {
  Nanoseconds compute{};
  Nanoseconds beyond{};  ///< part of the latency outside the stage: both links, and everything else
};

/// Times of requests that follow each other.
struct BusyTimes {
  Nanoseconds compute{};  ///< their median
  /// Time between results, on average: throughput counts the slow ones too.
  Nanoseconds interval{};
  std::vector<double> computes;  ///< ns, one a request in order: of what `compute` is the median
};

class StageMeter;

/// The stage that is asked, and the request. Both outlive the turns.
struct LoneTurn {
  StageMeter* stage = nullptr;
  const Value* request = nullptr;
};

/// A deployed stage that is timed.
///
/// Threads: one owner.
class StageMeter {
 public:
  /// Opens a meter of operators [begin, end) on that device. Cluster, pool and transports outlive
  /// it. `timeout`: of a request while nothing is known of what they take, and the least of later
  /// ones. Fails: as Deployment::open.
  static Expected<std::unique_ptr<StageMeter>> open(
      const std::string& device, std::int64_t begin, std::int64_t end,
      const control::ShardSettings& settings, const std::string& transport,
      const cluster::Cluster& cluster, cluster::ShardPool& pool, cluster::TransportSet& transports,
      std::chrono::milliseconds timeout);

  /// Measures lone requests. Fails: as Load::run.
  Expected<LoneTimes> lone(const Value& request, int requests);
  /// Measures lone requests of several stages in turns, `turns` of each. Each stage waits while the
  /// others work, as in a pipeline: a processor that has waited is slower. Fails: as Load::run.
  static Expected<std::vector<LoneTimes>> lone_in_turns(std::span<const LoneTurn> turns,
                                                        int requests);
  /// Measures for at least that time. Fails: as Load::run does.
  Expected<BusyTimes> busy(const Value& request, Nanoseconds duration);

  /// Makes a request of noise, at the batch of its settings, for a stage whose input nobody can
  /// compute. Fails: as make_examples does.
  Expected<Value> made_up_request() const;
  /// Returns the output of the last request.
  const Value& output() const { return output_; }
  const cluster::ResidentShard& shard() const { return *deployment_->shards().front(); }

 private:
  StageMeter(std::unique_ptr<cluster::Deployment> deployment, std::int64_t batch,
             std::chrono::milliseconds timeout)
      : deployment_(std::move(deployment)),
        batch_(batch),
        timeout_(timeout),
        load_(deployment_->source(), deployment_->sink(), deployment_->pipeline()) {}

  /// Runs a load, with a deadline that follows from the latency seen so far. Fails: as Load::run,
  /// naming the stage.
  Expected<load::LoadResult> run(const Value& request, load::LoadOptions options);

  std::unique_ptr<cluster::Deployment> deployment_;
  const std::int64_t batch_;
  const std::chrono::milliseconds timeout_;
  load::Load load_;
  Nanoseconds latency_{};  ///< latency of a lone request; 0: not known yet
  Value output_;
};

}  // namespace pareto::profile
