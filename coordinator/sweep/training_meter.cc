#include "coordinator/sweep/training_meter.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "coordinator/load/micro_batch.h"
#include "coordinator/train/device_steps.h"
#include "core/base/clock.h"
#include "core/tensor/value_spec.h"

namespace pareto::sweep {
namespace {

/// Small enough that no loss becomes infinite; times do not depend on it.
constexpr double kLearningRate = 1e-4;
constexpr int kWarmUpSteps = 2;
constexpr int kFewestSteps = 4;

/// Returns the labels that samples may have. Fails: kInvalidArgument.
Expected<IntegerRange> labels_of(const model::Model& model) {
  const model::Graph& graph = model.graph();
  if (graph.outputs.size() == 1) {
    const ValueSpec& output = graph.values[static_cast<std::size_t>(graph.outputs[0])].spec;
    if (output.kind == ValueSpec::Kind::kTensor && output.tensor.dims.size() == 2) {
      return IntegerRange{0, output.tensor.dims[1].constant - 1};
    }
  }
  return fail(ErrorCode::kInvalidArgument,
              "{} gives no row of classes for each sample: steps of training are measured of "
              "classifiers",
              model.name());
}

void add_step(const train::StepOutcome& outcome, Nanoseconds took, results::TrialRound& round) {
  round.latency_ms.push_back(to_milliseconds(took));
  round.intervals_s.push_back(to_seconds(took));
  round.sink_receive_ms.push_back(0);
  round.stages.resize(outcome.stages.size());
  for (std::size_t i = 0; i < outcome.stages.size(); ++i) {
    const plan::StageStepTimes& times = outcome.stages[i];
    results::StageSamples& stage = round.stages[i];
    const double compute = to_milliseconds(times.forward + times.backward + times.optimiser);
    stage.compute_ms.push_back(compute);
    stage.busy_ms.push_back(compute);
    stage.queue_ms.push_back(to_milliseconds(times.waiting));
    stage.receive_ms.push_back(0);
    stage.encode_ms.push_back(0);
  }
}

}  // namespace

plan::TrainingSettings measured_training() {
  plan::TrainingSettings settings;
  settings.optimiser.momentum = 0.9;
  return settings;
}

std::vector<std::int64_t> training_sizes(const plan::Plan& plan) {
  std::vector<std::int64_t> sizes = load::micro_batch_sizes(plan);
  if (sizes.empty()) sizes = {plan.batch};
  return sizes;
}

Expected<std::vector<train::MicroBatch>> example_batch(const model::Model& model,
                                                       const plan::Plan& plan,
                                                       cluster::ModelWorkload& workload) {
  PARETO_ASSIGN(const IntegerRange labels, labels_of(model));
  const std::vector<std::int64_t> sizes = training_sizes(plan);
  ValueSpec label;
  label.kind = ValueSpec::Kind::kTensor;
  label.range = labels;
  label.tensor = {DType::kInt64, {{0, 1}}};
  std::vector<train::MicroBatch> batch;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    PARETO_ASSIGN(auto inputs, workload.example(sizes[i], i));
    PARETO_ASSIGN(Value target, make_example(label, sizes[i], i));
    batch.push_back({std::move(inputs), std::move(target), sizes[i]});
  }
  return batch;
}

Expected<MeasuredRound> TrainingMeter::measure(cluster::Deployment& deployment,
                                               const plan::Plan& plan, int round, bool fresh,
                                               const UnitBudget& budget) {
  PARETO_ASSIGN(const auto batch, example_batch(model_, plan, workload_));
  train::DeviceSteps pipeline(deployment, workload_, timeout_);
  MeasuredRound measured;
  measured.round.round = round;
  measured.round.window = static_cast<int>(batch.size());
  const int warm_up = fresh ? kWarmUpSteps : 1;
  const TimePoint end =
      std::chrono::steady_clock::now() + std::chrono::duration_cast<Nanoseconds>(budget.slice);
  for (int i = -warm_up; i < budget.latency_requests; ++i) {
    const TimePoint begin = std::chrono::steady_clock::now();
    if (i >= kFewestSteps && begin > end && !budget.all_requests) break;
    PARETO_ASSIGN(const train::StepOutcome outcome,
                  pipeline.step(batch, {.step = steps_++, .learning_rate = kLearningRate}));
    ++measured.requests;
    if (i >= 0) {
      add_step(outcome, std::chrono::steady_clock::now() - begin, measured.round);
    }
  }
  return measured;
}

}  // namespace pareto::sweep
