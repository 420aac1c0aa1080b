// Makes trials from what a person requests: plans, their names, and the values that cross their
// boundaries.
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

/// Returns a plan that cuts the model at `points`: ascending indices into model.split_points(). Its
/// stages run on devices[0], devices[1], …
/// Fails: kInvalidArgument (an illegal point, too few devices).
Expected<plan::Plan> make_plan(const model::Model& model, const std::vector<std::size_t>& points,
                               const std::vector<std::string>& devices, std::int64_t batch,
                               const SweepOptions& options);

/// Describes the values that cross between the stages of a plan, at its batch. Empty for a plan
/// with one stage.
Expected<std::optional<results::SplitRecord>> describe_split(const model::Model& model,
                                                             const plan::Plan& plan);

/// Returns the trials of options.plans: each plan unchanged, under every condition. Fails: as
/// check_plan.
Expected<std::vector<results::TrialRecord>> plan_given(const model::Model& model,
                                                       const cluster::Cluster& cluster,
                                                       const SweepOptions& options);

/// Checks the options of a sweep on those devices: numbers in range, names known.
/// Fails: kInvalidArgument, kNotFound.
Expected<> check_sweep(const SweepOptions& options, const cluster::Cluster& cluster);

}  // namespace pareto::sweep
