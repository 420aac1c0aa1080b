// The figures of a trial, out of the samples of its rounds and of what its deployment tells.
#pragma once

#include "coordinator/cluster/deployment.h"
#include "coordinator/results/record.h"

namespace pareto::sweep {

/// Fills all figures of a trial from its rounds, at least one. `deployment` is the one that was
/// measured last; its stages are asked what travelled.
void summarize(const cluster::Deployment& deployment, results::TrialRecord& trial);

}  // namespace pareto::sweep
