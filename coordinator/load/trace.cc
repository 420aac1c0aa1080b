#include "coordinator/load/trace.h"

#include <algorithm>
#include <utility>

#include "coordinator/load/micro_batch.h"

namespace pareto::load {
namespace {

// A few dozen small calls: one of them meets no other packet on its way.
constexpr int kProbes = 24;
// Over 30 years: sums of a few of these do not overflow.
constexpr Nanoseconds kLargest{std::int64_t{1} << 60};

using Clocks = std::map<std::string, cluster::ClockOffset>;

Expected<Clocks> clocks_of(const cluster::Deployment& deployment) {
  Clocks clocks;
  for (cluster::DaemonClient* const device : deployment.devices()) {
    const std::string& name = device->config().name;
    if (clocks.contains(name)) continue;
    PARETO_ASSIGN(clocks[name], device->clock_offset(kProbes));
  }
  return clocks;
}

bool is_plausible(const wire::StageTimes& times) {
  return std::ranges::all_of(
      std::initializer_list<Nanoseconds>{times.arrived, times.receive, times.decode, times.queue,
                                         times.compute, times.encode, times.send, times.receive_cpu,
                                         times.compute_cpu, times.send_cpu},
      [](Nanoseconds time) { return time >= Nanoseconds(0) && time <= kLargest; });
}

Expected<> check(const LoadResult& load, std::size_t stages) {
  for (const RequestSample& sample : load.samples) {
    if (sample.timeline.size() != stages) {
      return fail(ErrorCode::kCorrupt, "a result passed {} stages, not {}", sample.timeline.size(),
                  stages);
    }
    if (!std::ranges::all_of(sample.timeline, is_plausible)) {
      return fail(ErrorCode::kCorrupt, "the timeline of request {} holds times of no clock",
                  sample.request);
    }
  }
  return {};
}

}  // namespace

Expected<PipelineTrace> trace_pipeline(cluster::Deployment& deployment, const plan::Plan& plan,
                                       const Value& request, int requests,
                                       std::chrono::milliseconds timeout) {
  PipelineTrace trace;
  trace.plan = plan;
  for (std::size_t i = 0; i < deployment.devices().size(); ++i) {
    trace.stages.push_back(
        {deployment.devices()[i]->config().name, deployment.shards()[i]->input_bytes});
  }
  // Each message of a request is one to be seen.
  Value message = request;
  if (const auto micro_batches = micro_batch_sizes(plan); !micro_batches.empty()) {
    PARETO_ASSIGN(const std::vector<Value> messages, split_batch(request, micro_batches));
    message = messages.front();
  }
  LoadOptions options;
  options.window = plan.window * static_cast<int>(plan.messages());
  options.requests = requests * static_cast<int>(plan.messages());
  options.request_timeout = timeout;
  Load load(deployment.source(), deployment.sink(), deployment.pipeline());
  PARETO_ASSIGN(const Clocks before, clocks_of(deployment));
  PARETO_ASSIGN(trace.load, load.run(message, options));
  PARETO_ASSIGN(const Clocks after, clocks_of(deployment));
  PARETO_TRY(check(trace.load, trace.stages.size()));
  for (const auto& [device, clock] : before) {
    trace.clocks[device] = cluster::enclosing(clock, after.at(device));
  }
  return trace;
}

}  // namespace pareto::load
