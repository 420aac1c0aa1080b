// Runs one plan with one pipeline and a few requests, for `paretoctl run`.
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
  /// Arguments of the model. No value means its examples at the plan's batch.
  std::optional<std::vector<Value>> inputs;
  /// Number of requests measured for latency. No value means kUsualRequests, or as many as fit into
  /// a second.
  std::optional<int> requests{};
  double codec_error = 0;  ///< error that "auto" may cause, as CodecError::mean
  /// If true, as many requests again are traced afterwards, at the window of the throughput.
  /// Without `requests` they are kUsualRequests.
  bool trace = false;
  std::uint64_t seed = 1;
  bool payload_checksum = true;  ///< see DeploymentOptions::payload_checksum
  double weight = 1;             ///< see DeploymentOptions
  int priority = 0;
  /// Time limit of a request, as in TrialMeter.
  std::chrono::milliseconds timeout = load::kRequestTimeout;
};

struct RunOnceResult {
  std::vector<Value> outputs;    ///< the model's results for those inputs
  std::vector<Value> expected;   ///< results of the whole model
  results::TrialRecord figures;  ///< figures, as one round of a trial
  std::optional<load::PipelineTrace> trace;
};

/// Runs the plan. Fails: as Deployment::open and Load::run; kInvalidArgument (another number of
/// inputs).
Expected<RunOnceResult> run_once(const model::Model& model, const cluster::Cluster& cluster,
                                 const plan::Plan& asked, const RunOnceOptions& options);

}  // namespace pareto::sweep
