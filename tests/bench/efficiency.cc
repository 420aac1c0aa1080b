#include "core/base/text.h"
#include "tests/bench/benches.h"
#include "tests/bench/pipeline_figures.h"
#include "tests/bench/pipelines.h"
#include "tests/bench/replay_stage.h"

namespace pareto::bench {
namespace {

constexpr auto kStreamed = std::chrono::seconds(4);
constexpr auto kRecorded = std::chrono::milliseconds(600);

/// Returns the one-tensor split points that part the model's FLOPs as evenly as they can.
Expected<std::vector<std::int64_t>> even_cuts(const model::Model& model, int stages) {
  std::vector<std::int64_t> positions;
  for (int i = 1; i < stages; ++i) {
    const double share = static_cast<double>(i) / stages;
    const auto* point = best_split_point(model, [&](const auto& p) {
      return std::abs(p.flops_before / (p.flops_before + p.flops_after) - share);
    });
    if (point == nullptr) return fail(ErrorCode::kInternal, "no split point of one tensor");
    positions.push_back(point->position);
  }
  return positions;
}

/// Records what each stage of a real pipeline takes for itself, whatever else the machine does
/// meanwhile: one request at a time, processor time.
Expected<std::vector<StageRecording>> record(Pipelines& pipelines,
                                             cluster::Deployment& deployment) {
  PARETO_TRY(pipelines.load(deployment, 1, kRecorded));
  PARETO_ASSIGN(const auto real, pipelines.load(deployment, 1, kRecorded));
  std::vector<StageRecording> stages(deployment.shards().size());
  for (std::size_t i = 0; i < stages.size(); ++i) {
    for (const auto& sample : real.samples) {
      stages[i].compute.push_back(sample.timeline[i].compute_cpu);
    }
    stages[i].output_bytes = deployment.shards()[i]->output_bytes;
  }
  return stages;
}

std::string row_name(const std::string& bench) { return bench.substr(bench.find('/') + 1); }

}  // namespace

Expected<std::vector<Row>> real_pipeline(const std::string& name, const std::string& model,
                                         double bar) {
  PARETO_ASSIGN(const auto pipelines, Pipelines::start(model, "tcp", 2));
  PARETO_ASSIGN(const auto cuts, even_cuts(pipelines->model(), 2));
  PARETO_ASSIGN(const auto deployment, pipelines->deploy(cuts));
  load::Load load(deployment->source(), deployment->sink(), deployment->pipeline());
  PARETO_ASSIGN(const auto figures, measure_pipeline(load, pipelines->request(), kStreamed));
  return pipeline_rows(row_name(name), figures, bar,
                       fmt::format("{} on two daemons, a core each", model));
}

Expected<std::vector<Row>> replayed_pipeline(const std::string& name, const std::string& model,
                                             int stages, std::optional<double> bar) {
  std::vector<StageRecording> recordings;
  Value request;
  {
    PARETO_ASSIGN(const auto pipelines, Pipelines::start(model, "tcp", stages));
    PARETO_ASSIGN(const auto cuts, even_cuts(pipelines->model(), stages));
    PARETO_ASSIGN(const auto deployment, pipelines->deploy(cuts));
    PARETO_ASSIGN(recordings, record(*pipelines, *deployment));
    request = pipelines->request();
  }
  PARETO_ASSIGN(const auto pipeline, ReplayPipeline::start(recordings));
  load::Load load(pipeline->source(), pipeline->sink(), ReplayPipeline::kPipeline);
  PARETO_ASSIGN(const auto figures, measure_pipeline(load, request, kStreamed));
  std::vector<std::string> boundaries;
  for (const StageRecording& stage : recordings) {
    boundaries.push_back(fmt::format("{}", (stage.output_bytes + 500) / 1000));
  }
  return pipeline_rows(row_name(name), figures, bar,
                       fmt::format("{} replayed, boundaries {} KB", model, join(boundaries, " ")));
}

}  // namespace pareto::bench
