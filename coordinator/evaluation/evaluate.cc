#include "coordinator/evaluation/evaluate.h"

#include <future>
#include <optional>
#include <string>
#include <utility>

#include "coordinator/cluster/pipeline_health.h"
#include "coordinator/evaluation/sample_stream.h"
#include "coordinator/load/request_stream.h"

namespace pareto::evaluation {
namespace {

/// The time that a device gets to answer before it counts as lost.
constexpr std::chrono::milliseconds kPatience{3'000};

}  // namespace

Expected<Evaluation> evaluate_uncut(const model::Model& model, const SampleBatches& batches,
                                    const OnAnswered& on_answered) {
  Evaluation evaluation;
  const TimePoint begun = std::chrono::steady_clock::now();
  const auto read = [&](std::size_t number) {
    return std::async(std::launch::async, [&batches, number] { return batches.read(number); });
  };
  auto next = read(0);
  for (std::size_t number = 0; number < batches.count(); ++number) {
    PARETO_ASSIGN(const LabelledBatch batch, next.get());
    if (number + 1 < batches.count()) next = read(number + 1);
    PARETO_ASSIGN(const std::vector<Value> outputs, model.run_whole(batch.inputs));
    PARETO_ASSIGN(const std::vector<Answer> answers, answers_of(outputs, batch.labels));
    evaluation.answers.insert(evaluation.answers.end(), answers.begin(), answers.end());
    if (on_answered) on_answered(evaluation.answers.size());
  }
  evaluation.time = std::chrono::steady_clock::now() - begun;
  return evaluation;
}

int window_of(const plan::Plan& plan) {
  return plan.window > 0 ? plan.window : static_cast<int>(plan.stages.size() + plan.turn());
}

Expected<Evaluation> evaluate_pipeline(cluster::Deployment& deployment, const plan::Plan& plan,
                                       cluster::ModelWorkload& workload,
                                       const SampleBatches& batches, const PipelineOptions& options,
                                       const OnAnswered& on_answered) {
  SampleStream samples(batches, workload, on_answered);
  load::StreamOptions streaming;
  streaming.window = options.window;
  streaming.request_timeout = options.timeout;
  streaming.micro_batch = plan.is_cut() ? plan.message_batch() : 0;
  if (!plan.replicated) streaming.first_stage = "stage 0 on " + plan.stages[0].device;
  const TimePoint begun = std::chrono::steady_clock::now();
  load::StreamEnd end = load::run_stream(deployment.source(), deployment.sink(),
                                         deployment.pipeline(), streaming, samples, samples);
  if (end.broken) {
    return tl::unexpected(cluster::why_lost(deployment, *std::move(end.broken), kPatience));
  }
  PARETO_ASSIGN(std::vector<Answer> answers, samples.take_answers());
  return Evaluation{std::move(answers), std::chrono::steady_clock::now() - begun};
}

}  // namespace pareto::evaluation
