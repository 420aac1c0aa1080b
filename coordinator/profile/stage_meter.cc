#include "coordinator/profile/stage_meter.h"

#include <algorithm>
#include <utility>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/statistics/statistics.h"

namespace pareto::profile {
namespace {

/// The first finds caches that others have used.
constexpr int kDiscarded = 1;
/// Enough for a stage never to wait: one is computed, one received, one sent.
constexpr int kWindow = 3;
constexpr int kFewestIntervals = 5;
constexpr std::uint64_t kRequestSeed = 1;

Expected<Nanoseconds> compute_of(const load::RequestSample& sample) {
  if (sample.timeline.size() == 1) return sample.timeline.front().compute;
  return fail(ErrorCode::kCorrupt, "a result passed {} stages, not one", sample.timeline.size());
}

/// Returns whether the device's owner limits the time for which it computes. Waiting for that is no
/// part of a profile: plans stretch it by the limit (coordinator/profile/device_constraints.h).
bool is_limited(const cluster::DaemonClient& device) { return device.info().limit_busy < 1; }

}  // namespace

Expected<std::unique_ptr<StageMeter>> StageMeter::open(
    const std::string& device, std::int64_t begin, std::int64_t end,
    const control::ShardSettings& settings, const std::string& transport,
    const cluster::Cluster& cluster, cluster::ShardPool& pool, cluster::TransportSet& transports,
    std::chrono::milliseconds timeout) {
  plan::Plan plan = cluster::plan_with(settings);
  plan.stages = {{device, begin, end}};
  plan.transport = transport;
  PARETO_ASSIGN(auto deployment,
                with_context(cluster::Deployment::open(plan, cluster, pool, transports),
                             "operators {} to {} on {}", begin, end, device));
  return std::unique_ptr<StageMeter>(
      new StageMeter(std::move(deployment), settings.batch, timeout));
}

Expected<load::LoadResult> StageMeter::run(const Value& request, load::LoadOptions options) {
  options.request_timeout = load::timeout_for(latency_, options.window, timeout_);
  return with_context(load_.run(request, options), "operators {} to {} on {}", shard().begin,
                      shard().end, deployment_->devices().front()->config().name);
}

Expected<Value> StageMeter::made_up_request() const {
  PARETO_ASSIGN(std::vector<Value> inputs,
                plan::make_examples(shard().inputs, batch_, kRequestSeed));
  return Value{Tuple{std::move(inputs)}};
}

Expected<LoneTimes> StageMeter::lone(const Value& request, int requests) {
  const LoneTurn turn{this, &request};
  PARETO_ASSIGN(const std::vector<LoneTimes> times, lone_in_turns({&turn, 1}, requests));
  return times.front();
}

Expected<std::vector<LoneTimes>> StageMeter::lone_in_turns(std::span<const LoneTurn> turns,
                                                           int requests) {
  std::vector<std::vector<double>> compute(turns.size());
  std::vector<std::vector<double>> beyond(turns.size());
  for (int round = 0; round < kDiscarded + requests; ++round) {
    for (std::size_t i = 0; i < turns.size(); ++i) {
      StageMeter& stage = *turns[i].stage;
      PARETO_ASSIGN(load::LoadResult result, stage.run(*turns[i].request, load::LoadOptions()));
      stage.output_ = std::move(result.last_output);
      if (round < kDiscarded) continue;
      const load::RequestSample& sample = result.samples.front();
      PARETO_ASSIGN(const Nanoseconds time, compute_of(sample));
      compute[i].push_back(to_nanoseconds(time));
      const bool limited = is_limited(*stage.deployment_->devices().front());
      const Nanoseconds waited = limited ? sample.timeline.front().queue : Nanoseconds(0);
      beyond[i].push_back(to_nanoseconds(sample.latency() - time - waited));
    }
  }
  std::vector<LoneTimes> times;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    times.push_back({from_nanoseconds(statistics::median(compute[i])),
                     from_nanoseconds(statistics::median(beyond[i]))});
    turns[i].stage->latency_ = times.back().compute + times.back().beyond;
  }
  return times;
}

Expected<BusyTimes> StageMeter::busy(const Value& request, Nanoseconds duration) {
  load::LoadOptions options;
  options.window = kWindow;
  // The first window fills the pipeline, the last one drains it.
  options.requests = 2 * kWindow + kFewestIntervals;
  options.duration = duration;
  PARETO_ASSIGN(load::LoadResult result, run(request, options));
  std::vector<double> compute;
  const std::size_t last = result.samples.size() - kWindow;
  for (std::size_t i = kWindow; i < last; ++i) {
    PARETO_ASSIGN(const Nanoseconds time, compute_of(result.samples[i]));
    compute.push_back(to_nanoseconds(time));
  }
  const Nanoseconds passed =
      result.samples[last - 1].completed - result.samples[kWindow - 1].completed;
  output_ = std::move(result.last_output);
  const Nanoseconds time = from_nanoseconds(statistics::median(compute));
  const Nanoseconds interval = is_limited(*deployment_->devices().front())
                                   ? time
                                   : passed / static_cast<std::int64_t>(compute.size());
  return BusyTimes{time, interval, std::move(compute)};
}

}  // namespace pareto::profile
