// A pipeline in steady state, every request with all its times, and the clocks that they are on:
// what client/report/chrome_trace.h draws.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "coordinator/cluster/clock_offset.h"
#include "coordinator/cluster/deployment.h"
#include "coordinator/load/load.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/tensor/value.h"

namespace pareto::load {

struct TracedStage {
  std::string device;
  std::uint64_t input_bytes = 0;  ///< tensors of one request, before a codec makes them smaller
};

struct PipelineTrace {
  plan::Plan plan;  ///< its window is the one that was used
  std::vector<TracedStage> stages;
  std::map<std::string, cluster::ClockOffset>
      clocks;       ///< clock offset of each device, for the whole of the load
  LoadResult load;  ///< every timeline has one entry a stage
};

/// Sends `requests` requests, at most `plan.window` at a time, and compares clocks before and
/// after. None may take longer than `timeout`. Fails: as Load::run and DaemonClient::clock_offset;
/// kCorrupt (timelines of another number of stages, or with times that no clock gives).
Expected<PipelineTrace> trace_pipeline(cluster::Deployment& deployment, const plan::Plan& plan,
                                       const Value& request, int requests,
                                       std::chrono::milliseconds timeout);

}  // namespace pareto::load
