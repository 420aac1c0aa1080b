#include "coordinator/sweep/training_profile.h"

#include <algorithm>
#include <utility>

#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/cluster/transport_set.h"
#include "coordinator/statistics/statistics.h"
#include "coordinator/sweep/training_meter.h"
#include "coordinator/train/device_steps.h"
#include "coordinator/train/training_factory.h"

namespace pareto::sweep {
namespace {

constexpr std::size_t kMostPieces = 32;
constexpr int kUncountedSteps = 2;
constexpr int kCountedSteps = 5;
constexpr double kProfiledRate = 1e-4;

/// Returns the number of operators up to the last one that has a parameter to train.
std::int64_t trained_end(const model::Graph& graph) {
  for (std::size_t i = graph.operators.size(); i > 0; --i) {
    const auto& weights = graph.operators[i - 1].weights;
    const bool trains = std::ranges::any_of(weights, [&](std::int64_t weight) {
      return graph.weights[static_cast<std::size_t>(weight)].is_trainable;
    });
    if (trains) return static_cast<std::int64_t>(i);
  }
  return 0;
}

Nanoseconds share_of(Nanoseconds time, double share) {
  return from_nanoseconds(share * to_nanoseconds(time));
}

Nanoseconds median_of(const std::vector<plan::StageStepTimes>& steps,
                      Nanoseconds plan::StageStepTimes::*time) {
  std::vector<double> samples;
  for (const plan::StageStepTimes& step : steps) samples.push_back(to_nanoseconds(step.*time));
  return from_nanoseconds(statistics::median(samples));
}

plan::Plan plan_of_pieces(const model::Model& model, const TrainingProfileRequest& request) {
  plan::Plan plan;
  plan.model = model.name();
  plan.batch = request.batch;
  plan.settings = request.settings;
  plan.transport = cluster::kAutoTransport;
  for (std::size_t i = 0; i + 1 < request.positions.size(); ++i) {
    plan.stages.push_back({request.device, request.positions[i], request.positions[i + 1]});
    if (i > 0) plan.splits.push_back(fmt::format("op:{}", request.positions[i]));
  }
  return plan;
}

}  // namespace

TrainingProfile::TrainingProfile(const model::Model& model, std::vector<std::int64_t> positions,
                                 const std::vector<planning::TrainingStageTimes>& pieces)
    : positions_(std::move(positions)), sums_(1), flops_(1, 0) {
  for (const planning::TrainingStageTimes& piece : pieces) {
    planning::TrainingStageTimes sum = sums_.back();
    sum += piece;
    sums_.push_back(sum);
  }
  for (const model::Operator& op : model.graph().operators) {
    flops_.push_back(flops_.back() + op.flops_per_sample);
  }
}

planning::TrainingStageTimes TrainingProfile::before(std::int64_t position) const {
  const auto next =
      static_cast<std::size_t>(std::ranges::lower_bound(positions_, position) - positions_.begin());
  if (next == positions_.size()) return sums_.back();
  if (positions_[next] == position) return sums_[next];
  const auto flops_at = [&](std::int64_t at) { return flops_[static_cast<std::size_t>(at)]; };
  const double begin = flops_at(positions_[next - 1]);
  const double all = flops_at(positions_[next]) - begin;
  const double share = all > 0 ? (flops_at(position) - begin) / all : 0;
  const planning::TrainingStageTimes& less = sums_[next - 1];
  const planning::TrainingStageTimes& more = sums_[next];
  return {less.forward + share_of(more.forward - less.forward, share),
          less.backward + share_of(more.backward - less.backward, share),
          less.optimiser + share_of(more.optimiser - less.optimiser, share)};
}

planning::TrainingStageTimes TrainingProfile::between(std::int64_t begin, std::int64_t end) const {
  const planning::TrainingStageTimes first = before(begin);
  const planning::TrainingStageTimes last = before(end);
  return {last.forward - first.forward, last.backward - first.backward,
          last.optimiser - first.optimiser};
}

std::vector<std::int64_t> profiled_positions(const model::Model& model,
                                             const std::vector<std::int64_t>& wanted) {
  const auto operators = static_cast<std::int64_t>(model.graph().operators.size());
  const std::int64_t last = std::min(trained_end(model.graph()), operators) - 1;
  std::vector<std::int64_t> inner;
  for (const std::int64_t position : wanted) {
    if (position > 0 && position <= last) inner.push_back(position);
  }
  std::ranges::sort(inner);
  inner.erase(std::unique(inner.begin(), inner.end()), inner.end());
  std::vector<std::int64_t> positions{0};
  const std::size_t most = std::min(inner.size(), kMostPieces - 1);
  for (std::size_t i = 0; i < most; ++i) positions.push_back(inner[i * inner.size() / most]);
  positions.push_back(operators);
  return positions;
}

Expected<TrainingProfile> profile_training(const model::Model& model, const model::Model& loss,
                                           const TrainingProfileRequest& request,
                                           const cluster::Cluster& cluster,
                                           cluster::ModelWorkload& workload,
                                           cluster::ShardPool& pool,
                                           const std::atomic<bool>& stop) {
  PARETO_ASSIGN(const plan::Plan plan,
                cluster::with_transports_named(plan_of_pieces(model, request), cluster));
  PARETO_ASSIGN(const std::vector<train::MicroBatch> batch, example_batch(model, plan, workload));
  cluster::TransportSet transports;
  cluster::DeploymentOptions deploying;
  deploying.training = train::training_factory(model, loss, measured_training(), {});
  PARETO_ASSIGN(const auto deployment,
                cluster::Deployment::open(plan, cluster, pool, transports, deploying));
  train::DeviceSteps pipeline(*deployment, workload, request.timeout);
  std::vector<std::vector<plan::StageStepTimes>> seen(plan.stages.size());
  for (int i = -kUncountedSteps; i < kCountedSteps; ++i) {
    if (stop) return fail(ErrorCode::kClosed, "stopped before {} was profiled", request.device);
    PARETO_ASSIGN(const train::StepOutcome outcome,
                  pipeline.step(batch, {.step = static_cast<std::uint64_t>(i + kUncountedSteps),
                                        .learning_rate = kProfiledRate}));
    if (i < 0) continue;
    if (outcome.stages.size() != seen.size()) {
      return fail(ErrorCode::kCorrupt, "{} stages say their times, and there are {}",
                  outcome.stages.size(), seen.size());
    }
    for (std::size_t k = 0; k < seen.size(); ++k) seen[k].push_back(outcome.stages[k]);
  }
  std::vector<planning::TrainingStageTimes> pieces;
  for (const auto& steps : seen) {
    pieces.push_back({median_of(steps, &plan::StageStepTimes::forward),
                      median_of(steps, &plan::StageStepTimes::backward),
                      median_of(steps, &plan::StageStepTimes::optimiser)});
  }
  return TrainingProfile(model, request.positions, pieces);
}

}  // namespace pareto::sweep
