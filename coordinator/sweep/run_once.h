// Runs one plan with one pipeline and a few requests, for `paretoctl run`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/load/lost_request.h"
#include "coordinator/load/trace.h"
#include "coordinator/results/record.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/control/shard_report.h"
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
  /// Requests that are sent first and count nowhere. No value means that the measurement itself
  /// finds out how many it needs.
  std::optional<int> warm_up{};
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

/// A stage when it was ready.
struct StageStart {
  std::string device;
  control::ShardReport shard;  ///< engines that the device tried, and why some were not kept
};

/// All that came before the first request that counts.
struct RunStart {
  Nanoseconds open{};  ///< time to load the shards, choose their engines and open the links
  Nanoseconds first_request{};  ///< latency of the first request
  int warm_up_requests = 0;     ///< number of RunOnceOptions::warm_up
  Nanoseconds last_warm_up{};   ///< latency of the last of them
  std::vector<StageStart> stages;
};

struct RunOnceResult {
  std::vector<Value> outputs;    ///< the model's results for those inputs
  std::vector<Value> expected;   ///< results of the whole model
  results::TrialRecord figures;  ///< figures, as one round of a trial
  std::optional<load::PipelineTrace> trace;
  RunStart start;
};

/// Runs the plan. Fails: as Deployment::open and Load::run; kInvalidArgument (another number of
/// inputs).
Expected<RunOnceResult> run_once(const model::Model& model, const cluster::Cluster& cluster,
                                 const plan::Plan& asked, const RunOnceOptions& options);

}  // namespace pareto::sweep
