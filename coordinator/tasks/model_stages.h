// A model as tasks run it: its layers with their costs, and the stages that it is cut into.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/planning/tasks/cost_metric.h"
#include "runtime/shard_runner.h"

namespace pareto::tasks {

/// The place of a stage in its model.
struct StageRange {
  std::int64_t begin = 0;  ///< first operator
  std::int64_t end = 0;    ///< one past the last
  std::string name;        ///< name of the cut at its end; "" of the last
  bool operator==(const StageRange&) const = default;
};

/// Returns the layers of a model with their times, which `runner` of the whole model measures.
/// Fails: as ShardRunner::profile().
Expected<std::vector<LayerCost>> layer_costs(const model::Model& model, std::int64_t batch,
                                             runtime::ShardRunner& runner, int repeats);

/// Cuts a model at split points of `auto` into at most `stages` stages. Their costs by the metric
/// are as equal as they can be. Returns one stage if it cannot be cut. Fails: as
/// CostMetric::costs_of().
Expected<std::vector<StageRange>> cut_into_stages(const model::Model& model,
                                                  const std::vector<LayerCost>& layers,
                                                  const CostMetric& metric, std::size_t stages);

}  // namespace pareto::tasks
