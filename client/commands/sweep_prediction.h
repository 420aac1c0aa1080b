// The predictions that a sweep begins with.
#pragma once

#include "client/command.h"
#include "client/commands/sweep_metrics.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/results/record.h"
#include "coordinator/results/store.h"
#include "coordinator/sweep/sweep.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"

namespace pareto::client::commands {

/// Predicts the trials of a run that lack a prediction: requests, or steps of training if the
/// options say so. Shows progress, and says on stderr how long it took. Fails: as
/// sweep::predict_trials() or sweep::predict_training(), and as open_loss(); kClosed (stopped).
Expected<> predict_run(Context& context, const model::Model& model, const cluster::Cluster& cluster,
                       const sweep::SweepOptions& options, results::RunRecord& run,
                       results::ResultStore& store, SweepMetrics& metrics);

}  // namespace pareto::client::commands
