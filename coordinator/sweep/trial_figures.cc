#include "coordinator/sweep/trial_figures.h"

#include <utility>
#include <vector>

#include "coordinator/results/quantile.h"
#include "coordinator/results/time_split.h"
#include "coordinator/statistics/front.h"
#include "coordinator/statistics/statistics.h"
#include "core/base/clock.h"

namespace pareto::sweep {
namespace {

/// Returns what the sink took to receive a result of one replica, which has a request of each turn.
double sink_receive_ms(const std::vector<results::TrialRound>& rounds, std::size_t replica,
                       std::size_t turn) {
  std::vector<double> received;
  for (const results::TrialRound& round : rounds) {
    for (std::size_t i = replica; i < round.sink_receive_ms.size(); i += turn) {
      received.push_back(round.sink_receive_ms[i]);
    }
  }
  return statistics::median(received);
}

/// Returns the samples of one kind of all rounds, in the order in which they were measured.
template <typename Samples>
std::vector<double> joined(const std::vector<results::TrialRound>& rounds, Samples samples) {
  std::vector<double> all;
  for (const results::TrialRound& round : rounds) {
    const std::vector<double>& some = samples(round);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

double median_of_stage(const std::vector<results::TrialRound>& rounds, std::size_t stage,
                       std::vector<double> results::StageSamples::*samples) {
  return statistics::median(
      joined(rounds, [&](const results::TrialRound& round) -> const std::vector<double>& {
        return round.stages[stage].*samples;
      }));
}

/// Returns the bytes of a whole batch, from those of one message.
std::uint64_t bytes_of_batch(std::uint64_t message_bytes, const plan::Plan& plan) {
  return message_bytes * static_cast<std::uint64_t>(plan.batch) /
         static_cast<std::uint64_t>(plan.message_batch());
}

}  // namespace

void summarize(const cluster::Deployment& deployment, results::TrialRecord& trial) {
  const std::vector<results::TrialRound>& rounds = trial.rounds;
  const std::vector<double> latency_ms = joined(
      rounds, [](const results::TrialRound& round) -> auto& { return round.latency_ms; });
  results::LatencyFigures& latency = trial.latency;
  latency.p90_ms = results::quantile(latency_ms, 0.9);
  latency.p95_ms = results::quantile(latency_ms, 0.95);
  latency.p99_ms = results::quantile(latency_ms, 0.99);
  latency.mean_ms = statistics::mean(latency_ms);
  latency.window = 1;
  latency.samples = static_cast<std::int64_t>(latency_ms.size());

  results::ThroughputFigures& throughput = trial.throughput;
  throughput.window = rounds.front().window;
  throughput.samples = 0;
  for (const results::TrialRound& round : rounds) {
    throughput.samples += static_cast<std::int64_t>(round.intervals_s.size());
  }

  trial.stages.clear();
  trial.links.clear();
  // By replica; a pipeline is one.
  std::vector<double> compute_ms(trial.plan.turn());
  std::vector<double> transfer_ms(trial.plan.turn());
  const auto replica_of = [&](std::size_t stage) { return trial.plan.replicated ? stage : 0; };
  const std::vector<Nanoseconds>& round_trips = deployment.round_trips();
  const std::vector<std::uint64_t> wire_bytes = deployment.wire_bytes();
  for (std::size_t i = 0; i < trial.plan.links(); ++i) {
    const plan::LinkEnds ends = trial.plan.ends_of(i);
    const std::size_t replica = replica_of(ends.to ? *ends.to : *ends.from);
    const double receive_ms =
        ends.to ? median_of_stage(rounds, *ends.to, &results::StageSamples::receive_ms)
                : sink_receive_ms(rounds, replica, trial.plan.turn());
    results::LinkFigures link;
    link.transfer_p50_ms = to_milliseconds(round_trips[i]) / 2 + receive_ms;
    const std::uint64_t message_bytes = ends.to ? deployment.shards()[*ends.to]->input_bytes
                                                : deployment.shards()[*ends.from]->output_bytes;
    link.bytes = bytes_of_batch(message_bytes, trial.plan);
    link.wire_bytes = wire_bytes[i] * static_cast<std::uint64_t>(trial.plan.messages());
    transfer_ms[replica] += link.transfer_p50_ms;
    trial.links.push_back(link);
    if (!ends.to) continue;
    const std::size_t to = *ends.to;
    const cluster::ResidentShard& shard = *deployment.shards()[to];
    results::StageFigures stage;
    stage.device = deployment.devices()[to]->config().name;
    stage.engine = shard.loaded.engine;
    stage.precision = shard.loaded.precision;
    stage.precision_reason = shard.loaded.precision_reason;
    stage.schedule = shard.loaded.schedule;
    stage.schedule_reason = shard.loaded.schedule_reason;
    if (stage.schedule.empty() && trial.plan.settings_of(to).schedule != plan::kSequential) {
      stage.schedule_reason = "its daemon is of a version without schedules";
    }
    stage.compute_p50_ms = median_of_stage(rounds, to, &results::StageSamples::compute_ms);
    stage.queue_p50_ms = median_of_stage(rounds, to, &results::StageSamples::queue_ms);
    stage.receive_p50_ms = receive_ms;
    stage.encode_p50_ms = median_of_stage(rounds, to, &results::StageSamples::encode_ms);
    stage.peak_memory_bytes = shard.loaded.memory_bytes;
    stage.weight_bytes = shard.weight_bytes;
    compute_ms[replica] += stage.compute_p50_ms;
    trial.stages.push_back(std::move(stage));
  }
  // A latency is made of the times of the slowest replica.
  std::size_t slowest = 0;
  for (std::size_t replica = 1; replica < compute_ms.size(); ++replica) {
    const auto whole = [&](std::size_t one) { return compute_ms[one] + transfer_ms[one]; };
    if (whole(replica) > whole(slowest)) slowest = replica;
  }
  trial.time_split = results::split_time(statistics::median(latency_ms), compute_ms[slowest],
                                         transfer_ms[slowest]);
  statistics::settle_alone(trial);
}

}  // namespace pareto::sweep
