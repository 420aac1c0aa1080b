// From what a person asked for to trials: which plans, what they are called, what crosses their boundaries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/results/record.h"
#include "coordinator/sweep/sweep.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"

namespace pareto::sweep {

/// A plan that cuts the model at `points` (indices into model.split_points(), ascending), its stages on devices[0], devices[1], …
/// Fails: kInvalidArgument (an illegal point, too few devices).
Expected<plan::Plan> make_plan(const model::Model& model, const std::vector<std::size_t>& points,
                               const std::vector<std::string>& devices, std::int64_t batch,
                               const SweepOptions& options);

/// What crosses between the stages of a plan of that model, at its batch. Empty for a plan with one stage.
Expected<std::optional<results::SplitRecord>> describe_split(const model::Model& model,
                                                             const plan::Plan& plan);

/// The trials of options.plans: each plan as it stands, under every condition. Fails: as check_plan.
Expected<std::vector<results::TrialRecord>> plan_given(const model::Model& model,
                                                       const cluster::Cluster& cluster,
                                                       const SweepOptions& options);

/// Whether a sweep of those devices can be asked for: numbers in range, names known. Fails: kInvalidArgument, kNotFound.
Expected<> check_sweep(const SweepOptions& options, const cluster::Cluster& cluster);

}  // namespace pareto::sweep
