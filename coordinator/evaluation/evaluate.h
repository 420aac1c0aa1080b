// Runs the samples of a data set through a model, or through a pipeline of its stages.
//
//   DataSet ──SampleBatches──▶ uncut model | pipeline ──▶ Answers ──▶ Accuracy, Agreement
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/evaluation/answers.h"
#include "coordinator/evaluation/sample_batches.h"
#include "coordinator/load/lost_request.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"

namespace pareto::evaluation {

/// Called with the number of samples that are answered. Threads: one of the evaluation's own.
using OnAnswered = std::function<void(std::size_t samples)>;

struct Evaluation {
  std::vector<Answer> answers;  ///< one for each sample, in order
  Nanoseconds time{};           ///< from the first sample to the last answer
};

/// Runs the uncut model in this process, interpreted plainly. Samples are read by another thread
/// meanwhile. Fails: as SampleBatches::read(), Model::run_whole() and answers_of().
Expected<Evaluation> evaluate_uncut(const model::Model& model, const SampleBatches& batches,
                                    const OnAnswered& on_answered = {});

struct PipelineOptions {
  int window = 1;  ///< batches in flight, at least 1
  /// Time limit of a request, as StreamOptions::request_timeout.
  std::chrono::milliseconds timeout = load::kRequestTimeout;
};

/// Returns the window to evaluate with: the plan's own, or if that is open a request in every stage
/// and one on its way.
int window_of(const plan::Plan& plan);

/// Sends the batches through a deployed plan of that batch. Fails: as SampleBatches::read() and
/// answers_of(), with a request's own error, and as links do, naming the stages that were lost.
Expected<Evaluation> evaluate_pipeline(cluster::Deployment& deployment, const plan::Plan& plan,
                                       cluster::ModelWorkload& workload,
                                       const SampleBatches& batches, const PipelineOptions& options,
                                       const OnAnswered& on_answered = {});

}  // namespace pareto::evaluation
