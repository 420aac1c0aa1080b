// Chooses the engine that runs a shard: the requested one, or the fastest that gives the plain
// engine's results. It includes LibTorch: include it only in sources of runtime.
#pragma once

#include <memory>

#include "runtime/engines/engine.h"
#include "runtime/engines/options.h"
#include "runtime/torch/shard_boundary.h"

namespace pareto::runtime {

struct ChosenEngine {
  std::shared_ptr<Engine> engine;
  std::vector<EngineTiming> timings;  ///< timings of every engine tried; the engine kept is `name`
  std::string name;
  Precision precision = Precision::kFloat32;  ///< precision that the engine computes in
  std::string precision_reason{};  ///< why that is not the precision asked for; empty: it is
};

/// Builds options.engine, or for "auto" all engines that are not hopeless (RunnerOptions). Each is
/// compared with plain on example inputs, and timed in turns with the others. All but the fastest
/// are freed. If bf16 is requested, engines in fp32 take part as well. An engine in bf16 is not
/// kept if it is slower, or off by more than max_error. The returned engine has run once, except
/// "plain" by name.
/// Fails: kInvalidArgument (unknown name, an engine that cannot be built, a shard that does not run
/// on its example inputs), kExhausted.
Expected<ChosenEngine> choose_engine(const RunnerOptions& options, const LoadedModule& loaded,
                                     const ShardBoundary& boundary);

}  // namespace pareto::runtime
