// Times a model's training on one device, piece by piece: all pieces between cuts are stages there,
// one behind the other, and a micro-batch at a time goes through them.
//
//   positions ──▶ a pipeline of their pieces on the device ──steps──▶ TrainingProfile
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/workload.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/planning/cost/training_step.h"

namespace pareto::sweep {

/// Times of training on a device, by position of the model's order.
class TrainingProfile {
 public:
  /// `positions`: ascending from 0 to the number of operators. `pieces`: the times between each and
  /// the next.
  TrainingProfile(const model::Model& model, std::vector<std::int64_t> positions,
                  const std::vector<planning::TrainingStageTimes>& pieces);

  /// Returns the times of the operators [begin, end). A position inside a piece parts it in
  /// proportion to its FLOPs.
  planning::TrainingStageTimes between(std::int64_t begin, std::int64_t end) const;

 private:
  planning::TrainingStageTimes before(std::int64_t position) const;

  std::vector<std::int64_t> positions_;
  std::vector<planning::TrainingStageTimes> sums_;  ///< sums of all pieces before each position
  std::vector<double> flops_;                       ///< before each position of the model
};

/// Returns the positions that a profile is measured at: 0, `wanted` or as many of them as are
/// measured at most, and the end. None lies behind the last parameter that is trained.
std::vector<std::int64_t> profiled_positions(const model::Model& model,
                                             const std::vector<std::int64_t>& wanted);

struct TrainingProfileRequest {
  std::string device;
  std::vector<std::int64_t> positions;  ///< positions as profiled_positions() returns them
  std::int64_t batch = 1;               ///< samples of a micro-batch
  plan::StageSettings settings{};
  std::chrono::milliseconds timeout{};
};

/// Measures a profile: of each piece the medians of a few steps. Fails: kClosed (stopped),
/// and as Deployment::open and DeviceSteps::step do.
Expected<TrainingProfile> profile_training(const model::Model& model, const model::Model& loss,
                                           const TrainingProfileRequest& request,
                                           const cluster::Cluster& cluster,
                                           cluster::ModelWorkload& workload,
                                           cluster::ShardPool& pool, const std::atomic<bool>& stop);

}  // namespace pareto::sweep
