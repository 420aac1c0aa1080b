// What contests of engines came to (core/runtime/engines/engine_choice.h), so that later ones are shorter: a sweep loads hundreds of shards of one
// model, of which neighbours differ by a few operators, and building an engine takes longer than all that is timed of it.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/plan/shard.h"
#include "core/runtime/shard_runner.h"

namespace pareto::daemon {

/// An engine is hopeless for a shard if it failed or took a tenth longer than the best in all of at least four contests of shards like it:
/// of that model under the same settings, with two thirds of their places in the plan's order in common, for which the plain engine takes
/// about as long (up to twice, or half: that tells inputs of other sizes apart).
///
/// Threads: any.
class EngineHistory {
 public:
  static constexpr std::size_t kMostContests = 1024;  ///< of one model and settings; the oldest go

  void add(const plan::Shard& shard, const runtime::RunnerOptions& options,
           const runtime::LoadReport& report);
  /// plain: what the plain engine takes for the shard.
  bool is_hopeless(const plan::Shard& shard, const runtime::RunnerOptions& options,
                   const std::string& engine, runtime::Precision precision,
                   Nanoseconds plain) const;

 private:
  struct Contest {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    Nanoseconds plain{};
    /// Of those that were tried, each in each precision.
    std::map<std::pair<std::string, runtime::Precision>, bool> hopeless;
  };
  static std::string key_of(const plan::Shard& shard, const runtime::RunnerOptions& options);

  mutable std::mutex mutex_;
  std::map<std::string, std::deque<Contest>> contests_;
};

}  // namespace pareto::daemon
