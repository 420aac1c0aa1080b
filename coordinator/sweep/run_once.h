// One plan, one pipeline, a few requests: what `paretoctl run` does.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/load/lost_request.h"
#include "coordinator/load/trace.h"
#include "coordinator/results/record.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "core/tensor/value.h"
#include "partitioner/model/graph/model.h"

namespace pareto::sweep {

inline constexpr int kUsualRequests = 12;

struct RunOnceOptions {
  /// The model's arguments; none = its examples of the plan's batch.
  std::optional<std::vector<Value>> inputs;
  /// Measured for latency; none: kUsualRequests, or as many as fit into a second.
  std::optional<int> requests{};
  double codec_error = 0;  ///< what "auto" may lose, as CodecError::mean
  bool trace =
      false;  ///< whether so many, or kUsualRequests, are traced behind that, at the window of the throughput
  std::uint64_t seed = 1;
  bool payload_checksum = true;  ///< as DeploymentOptions::payload_checksum
  std::chrono::milliseconds timeout =
      load::kRequestTimeout;  ///< of a request, as TrialMeter has it
};

struct RunOnceResult {
  std::vector<Value> outputs;    ///< the model's results for those inputs
  std::vector<Value> expected;   ///< the whole model's
  results::TrialRecord figures;  ///< as one round of a trial
  std::optional<load::PipelineTrace> trace;
};

/// Fails: as Deployment::open and Load::run; kInvalidArgument (another number of inputs).
Expected<RunOnceResult> run_once(const model::Model& model, const cluster::Cluster& cluster,
                                 const plan::Plan& asked, const RunOnceOptions& options);

}  // namespace pareto::sweep
