// Remembers results of contests between engines (runtime/engines/engine_choice.h), to shorten
// later ones. A sweep loads hundreds of shards of one model, and neighbours differ by a few
// operators. Building an engine takes longer than timing it.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/plan/shard.h"
#include "runtime/shard_runner.h"

namespace pareto::daemon {

/// Tells which engines are hopeless for a shard: those that lost at least four contests of shards
/// like it, and won none. An engine loses a contest if it fails, or takes a tenth longer than the
/// best.
///
/// A shard is like another if all of these hold:
/// - They are of one model, under the same settings.
/// - They have two thirds of their places in the plan's order in common.
/// - The plain engine takes about as long for both, up to twice or half. This tells inputs of other
///   sizes apart.
///
/// Threads: any.
class EngineHistory {
 public:
  /// Most contests kept of one model and settings; the oldest go first.
  static constexpr std::size_t kMostContests = 1024;

  /// Adds the result of a contest.
  void add(const plan::Shard& shard, const runtime::RunnerOptions& options,
           const runtime::LoadReport& report);
  /// Returns whether the engine is hopeless. `plain` is the time that the plain engine takes for
  /// the shard.
  bool is_hopeless(const plan::Shard& shard, const runtime::RunnerOptions& options,
                   const std::string& engine, runtime::Precision precision,
                   Nanoseconds plain) const;

 private:
  struct Contest {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    Nanoseconds plain{};
    /// Results of the engines that were tried, by engine and precision; true means hopeless.
    std::map<std::pair<std::string, runtime::Precision>, bool> hopeless;
  };
  static std::string key_of(const plan::Shard& shard, const runtime::RunnerOptions& options);

  mutable std::mutex mutex_;
  std::map<std::string, std::deque<Contest>> contests_;
};

}  // namespace pareto::daemon
