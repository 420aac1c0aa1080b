#include "coordinator/sweep/run_once.h"

#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/pipeline_health.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_choice.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/load/micro_batch.h"
#include "coordinator/load/output_error.h"
#include "coordinator/statistics/statistics.h"
#include "coordinator/sweep/lost_devices.h"
#include "coordinator/sweep/sweep_plan.h"
#include "coordinator/sweep/trial_figures.h"
#include "coordinator/sweep/trial_meter.h"
#include "core/base/text.h"

namespace pareto::sweep {
namespace {

constexpr double kSliceSeconds = 2;

/// Names the stages that were lost in place of what the request's end says of them, if any were.
template <typename T>
Expected<T> or_loss(cluster::Deployment& deployment, Expected<T> result) {
  if (result || !may_mean_loss(result.error().code)) return result;
  return tl::unexpected(cluster::why_lost(deployment, std::move(result).error(), kProbeTimeout));
}

}  // namespace

Expected<RunOnceResult> run_once(const model::Model& model, const cluster::Cluster& cluster,
                                 const plan::Plan& asked, const RunOnceOptions& options) {
  if (options.trace && asked.replicated) {
    return fail(ErrorCode::kInvalidArgument,
                "a trace is of one pipeline: of replicas, trace the model whole on one device");
  }
  PARETO_ASSIGN(plan::Plan plan, cluster::with_transports_named(asked, cluster));
  cluster::ModelWorkload workload(model);
  PARETO_ASSIGN(const std::vector<Value> arguments,
                options.inputs ? Expected<std::vector<Value>>(*options.inputs)
                               : model.example_inputs(plan.batch, options.seed));
  PARETO_ASSIGN(std::vector<Value> inputs, workload.to_first_shard(arguments));
  cluster::TransportSet transports;
  cluster::ShardPool pool(workload);
  cluster::CodecChooser codecs(options.codec_error);
  cluster::DeploymentOptions deploying;
  deploying.codecs = &codecs;
  deploying.payload_checksum = options.payload_checksum;
  deploying.weight = options.weight;
  deploying.priority = options.priority;
  const SteadyClock clock;
  const TimePoint began = clock.now();
  PARETO_ASSIGN(const auto deployment,
                with_context(cluster::Deployment::open(plan, cluster, pool, transports, deploying),
                             "deploying"));
  plan.codecs = deployment->codecs();
  const Value request{Tuple{std::move(inputs)}};
  const std::vector<std::int64_t> micro_batches = load::micro_batch_sizes(plan);
  RunOnceResult result;
  RunStart& start = result.start;
  start.open = clock.now() - began;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    start.stages.push_back({plan.stages[i].device, deployment->shards()[i]->loaded});
  }
  {
    load::Load load(deployment->source(), deployment->sink(), deployment->pipeline());
    load::LoadOptions once;
    once.micro_batches = micro_batches;
    once.request_timeout = options.timeout;
    PARETO_ASSIGN(const load::LoadResult first, or_loss(*deployment, load.run(request, once)));
    start.first_request = first.samples.front().latency();
    const auto* tuple = first.last_output.get_if<Tuple>();
    if (!tuple) return fail(ErrorCode::kCorrupt, "the pipeline's result is no tuple");
    PARETO_ASSIGN(result.outputs, workload.from_last_shard(tuple->items));
    PARETO_ASSIGN(result.expected, model.run_whole(arguments));
    if (!model::draws_random_numbers(model.graph())) {
      result.figures.output_error = load::output_error(result.expected, result.outputs);
    }
    if (options.warm_up.value_or(0) > 0) {
      once.requests = *options.warm_up;
      PARETO_ASSIGN(const load::LoadResult warm, or_loss(*deployment, load.run(request, once)));
      start.warm_up_requests = *options.warm_up;
      start.last_warm_up = warm.samples.back().latency();
    }
  }
  TrialMeter meter(plan.window, options.seed, micro_batches, options.timeout);
  UnitBudget budget;
  budget.slice = std::chrono::duration<double>(kSliceSeconds);
  budget.latency_requests = options.requests.value_or(kUsualRequests);
  budget.all_requests = options.requests.has_value();
  results::TrialRecord& figures = result.figures;
  PARETO_ASSIGN(MeasuredRound measured,
                or_loss(*deployment, meter.measure(*deployment, request, 0, true, budget)));
  if (options.trace) {
    plan::Plan traced = plan;
    traced.window = measured.round.window;
    const Nanoseconds latency =
        from_nanoseconds(statistics::median(measured.round.latency_ms) * 1e6);
    PARETO_ASSIGN(result.trace,
                  with_context(load::trace_pipeline(
                                   *deployment, traced, request, budget.latency_requests,
                                   load::timeout_for(latency, traced.window, options.timeout)),
                               "tracing"));
  }
  figures.rounds.push_back(std::move(measured.round));
  figures.plan = plan;
  figures.transport = plan.transport_text();
  figures.codec = cluster::codec_text(plan.codecs);
  figures.auto_codec = plan.codecs != asked.codecs;
  figures.batch = plan.batch;
  figures.id = fmt::format(
      "{}/{}/b{}",
      plan.splits.empty() ? "all-on:" + join(plan.device_names(), "+") : join(plan.splits, "+"),
      figures.transport, plan.batch);
  PARETO_ASSIGN(figures.split, describe_split(model, plan));
  summarize(*deployment, figures);
  return result;
}

}  // namespace pareto::sweep
