// Factory of a daemon's shard runners.
#pragma once

#include <functional>
#include <memory>

#include "core/base/error.h"
#include "core/plan/shard.h"
#include "runtime/shard_runner.h"

namespace pareto::runtime {

/// Loads a shard with weights from that source. load_runner() is one; daemon/imitation makes
/// another from it; tests have their own. Threads: any. Fails: as ShardRunner::load does.
using RunnerFactory = std::function<Expected<std::unique_ptr<ShardRunner>>(
    const plan::Shard& shard, const WeightSource& weights, const RunnerOptions& options)>;

}  // namespace pareto::runtime
