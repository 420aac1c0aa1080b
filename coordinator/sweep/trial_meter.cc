#include "coordinator/sweep/trial_meter.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "coordinator/load/window_search.h"
#include "coordinator/results/time_split.h"
#include "coordinator/statistics/front.h"
#include "coordinator/statistics/statistics.h"

namespace pareto::sweep {
namespace {

constexpr double kLatencyShare = 0.4;
constexpr double kSearchShare = 0.1;
constexpr int kWarmUpTries = 3;

/// In ms; of replicas each turn's largest.
std::vector<double> latencies_of(std::span<const load::RequestSample> samples, std::size_t turn) {
  std::vector<double> latencies;
  for (std::size_t i = 0; i + turn <= samples.size(); i += turn) {
    Nanoseconds slowest{};
    for (const load::RequestSample& sample : samples.subspan(i, turn)) {
      slowest = std::max(slowest, sample.latency());
    }
    latencies.push_back(to_milliseconds(slowest));
  }
  return latencies;
}

/// The stages that a request passed, by their first; empty: those of its timeline are others.
std::span<results::StageSamples> passed_by(const load::RequestSample& sample, std::size_t turn,
                                           std::vector<results::StageSamples>& stages) {
  const std::size_t passed = stages.size() / turn;
  if (sample.timeline.size() != passed) return {};
  return std::span(stages).subspan(sample.request % turn * passed, passed);
}

/// Everything a round's requests took on their way through so many stages, all of them or, of replicas, one.
Expected<results::TrialRound> samples_of(const load::LoadResult& result, std::size_t stages,
                                         std::size_t turn) {
  results::TrialRound round;
  round.latency_ms = latencies_of(result.samples, turn);
  round.stages.resize(stages);
  for (const load::RequestSample& sample : result.samples) {
    const std::span<results::StageSamples> passed = passed_by(sample, turn, round.stages);
    if (passed.empty()) {
      return fail(ErrorCode::kCorrupt, "a result passed {} stages, not {}", sample.timeline.size(),
                  stages / turn);
    }
    round.sink_receive_ms.push_back(to_milliseconds(sample.sink.receive) +
                                    to_milliseconds(sample.sink.decode));
    for (std::size_t i = 0; i < passed.size(); ++i) {
      const wire::StageTimes& times = sample.timeline[i];
      passed[i].compute_ms.push_back(to_milliseconds(times.compute));
      passed[i].queue_ms.push_back(to_milliseconds(times.queue));
      passed[i].receive_ms.push_back(to_milliseconds(times.receive) +
                                     to_milliseconds(times.decode));
      passed[i].encode_ms.push_back(to_milliseconds(times.encode));
    }
  }
  return round;
}

/// What stages took of requests that follow each other.
void add_busy_samples(const std::vector<load::RequestSample>& samples, std::size_t turn,
                      results::TrialRound& round) {
  for (const load::RequestSample& sample : samples) {
    const std::span<results::StageSamples> passed = passed_by(sample, turn, round.stages);
    for (std::size_t i = 0; i < passed.size(); ++i) {
      const wire::StageTimes& times = sample.timeline[i];
      const Nanoseconds others = times.receive_cpu + times.send_cpu;
      passed[i].busy_ms.push_back(
          to_milliseconds(std::max(times.compute_cpu, times.compute - others)));
    }
  }
}

/// Of each request what the slowest stage or link is at work for: a stage receives and sends while it computes, and a replica has one of
/// each turn.
double bottleneck_ms(const results::TrialRound& round, std::size_t turn) {
  double slowest = 0;
  for (const results::StageSamples& stage : round.stages) {
    slowest = std::max(
        {slowest, statistics::median(stage.compute_ms), statistics::median(stage.receive_ms)});
  }
  return std::max(slowest / static_cast<double>(turn), statistics::median(round.sink_receive_ms));
}

/// What the sink took to receive of one replica, whose requests are each turn's one; of a pipeline of all.
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

/// The samples of one kind of all rounds, in the order measured.
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

}  // namespace

bool has_pause(std::span<const load::RequestSample> samples, std::size_t turn) {
  const std::vector<double> latencies = latencies_of(samples, turn);
  if (latencies.empty()) return false;
  const double usual = statistics::median(latencies);
  const double slowest = std::ranges::max(latencies);
  return slowest > std::max(usual + to_milliseconds(kPause), usual * 1.5);
}

bool runs_differ(std::span<const double> intervals_s, std::size_t length) {
  const std::vector<double> times = statistics::run_times(intervals_s, length);
  if (times.empty()) return false;
  const auto [shortest, longest] = std::ranges::minmax(times);
  return longest > (1 + kDearDifference) * shortest;
}

std::string describe_rules(const UnitBudget& budget) {
  return fmt::format(
      "A unit (one trial in one round) has a slice of "
      "{:.2f} s. A trial's first unit on a connection discards {} requests, then measures again "
      "(at most {} times) until the halves "
      "of its latencies agree within 1 % or do not differ; later units discard {}. Latency: window "
      "1, {} requests a unit, fewer "
      "where they exceed two fifths of the slice, at least {}; of replicas the slowest of each "
      "turn. Throughput: slope of the "
      "completions after the first 2 x window and "
      "before the last window, in whole windows, for {} latencies and at least {} s, within the "
      "rest of the slice "
      "but for {} completions at least. A window that is not given is the smallest within 1 % of "
      "the best throughput, searched in a trial's first unit from 1.25 x latency / bottleneck to "
      "twice as much, by two loads a window of at least {} completions; in an adaptive sweep it is "
      "the predicted one, and at least 1.25 x latency / bottleneck. Where a request took {} ms "
      "longer than most, and half as long again, a connection paused, and throughput is that of "
      "the load which is the median of {}. Plans whose requests take more than "
      "{} ms have fewer of all: one discarded, at least {} for latency and {} "
      "completions for throughput after one window and up to the last, that one of {} such runs "
      "which took the median time, at a window of 1.25 x latency / bottleneck; where one took "
      "{:.0f} % longer than another, so many are measured again, and it is that of all. "
      "Intervals: 95 %, Student's of the rounds' logarithms, a round one "
      "observation, and no narrower than by a stationary block bootstrap within the rounds, blocks "
      "of 5 x the correlation length.",
      budget.slice.count(), statistics::warm_up_requests(1), kWarmUpTries, kRewarmRequests,
      budget.latency_requests, std::min(kFewestRequests, budget.latency_requests),
      kThroughputLatencies, kShortestThroughput.count(), kFewestIntervals, kSearchIntervals,
      kPause.count(), kPausedRuns, kDearRequestMs,
      std::min(kFewestDearRequests, budget.latency_requests), kFewestDearIntervals, kDearRuns,
      100 * kDearDifference);
}

void TrialMeter::foresee_window(int window) {
  foreseen_window_ = std::clamp(window, 0, load::kLargestWindow);
}

Expected<MeasuredRound> TrialMeter::measure(cluster::Deployment& deployment, const Value& request,
                                            int round, bool fresh, const UnitBudget& budget) {
  turn_ = deployment.turn();
  load::Load load(deployment.source(), deployment.sink(), deployment.pipeline());
  PARETO_TRY(warm_up(load, request, fresh));
  PARETO_ASSIGN(load::LoadResult latency, measure_latency(load, request, fresh, budget));
  PARETO_ASSIGN(results::TrialRound measured,
                samples_of(latency, deployment.devices().size(), turn_));
  if (window_ == 0) PARETO_TRY(find_window(load, request, measured, budget));
  measured.round = round;
  measured.window = window_;
  const std::chrono::duration<double> wanted(expected_latency_ms_ / 1e3 * kThroughputLatencies);
  const auto duration =
      std::min(std::max(wanted, kShortestThroughput), budget.slice * (1 - kLatencyShare));
  PARETO_ASSIGN(Steady steady,
                measure_without_pause(
                    load, request, {dear() ? kFewestDearIntervals : kFewestIntervals, duration}));
  add_busy_samples(steady.samples, turn_, measured);
  measured.intervals_s = std::move(steady.intervals_s);
  return MeasuredRound{std::move(measured), std::move(latency.last_output), load.requests()};
}

Expected<> TrialMeter::warm_up(load::Load& load, const Value& request, bool fresh) {
  load::LoadOptions options = options_for(1);
  options.requests = requests_of_turns(1);
  PARETO_ASSIGN(const load::LoadResult first, load.run(request, options));
  expected_latency_ms_ = latencies_of(first.samples, turn_).front();
  // Its connection was primed, and its latency is the network's.
  if (dear()) return {};
  options.requests =
      requests_of_turns((fresh ? statistics::warm_up_requests(1) : kRewarmRequests) - 1);
  PARETO_ASSIGN(const load::LoadResult more, load.run(request, options));
  expected_latency_ms_ = statistics::median(latencies_of(more.samples, turn_));
  return {};
}

Expected<load::LoadResult> TrialMeter::measure_latency(load::Load& load, const Value& request,
                                                       bool fresh, const UnitBudget& budget) {
  load::LoadOptions options = options_for(1);
  const int wanted = (budget.latency_requests + requests_of_turns(1) - 1) / requests_of_turns(1);
  const auto as_many_as_fit = [&] {
    const double turn_ms = std::max(expected_latency_ms_, 1e-3) * static_cast<double>(turn_);
    const double fitting = budget.slice.count() * 1e3 * kLatencyShare / turn_ms;
    const int fewest = dear() ? kFewestDearRequests : kFewestRequests;
    return std::min(wanted, std::max(fewest, static_cast<int>(std::min(fitting, double{1 << 20}))));
  };
  for (int attempt = 1;; ++attempt) {
    const bool was_dear = dear();
    options.requests = requests_of_turns(as_many_as_fit());
    PARETO_ASSIGN(load::LoadResult result, load.run(request, options));
    const std::vector<double> latencies = latencies_of(result.samples, turn_);
    expected_latency_ms_ = statistics::median(latencies);
    // The one discarded was dear by accident.
    if (was_dear && !dear()) continue;
    const bool enough = latencies.size() >= 4;
    if (fresh && !dear() && attempt < kWarmUpTries && enough &&
        !statistics::is_level(latencies, seed_))
      continue;
    options.requests = requests_of_turns(wanted) - static_cast<int>(result.samples.size());
    if (!budget.all_requests || options.requests <= 0) return result;
    PARETO_ASSIGN(load::LoadResult rest, load.run(request, options));
    std::ranges::move(rest.samples, std::back_inserter(result.samples));
    result.last_output = std::move(rest.last_output);
    return result;
  }
}

Expected<> TrialMeter::find_window(load::Load& load, const Value& request,
                                   const results::TrialRound& alone, const UnitBudget& budget) {
  const double latency_ms = statistics::median(alone.latency_ms);
  const double slowest_ms = bottleneck_ms(alone, turn_);
  if (dear()) {
    window_ = load::roomy_window(latency_ms, slowest_ms);
    return {};
  }
  if (foreseen_window_ > 0) {
    window_ = std::max(foreseen_window_, load::roomy_window(latency_ms, slowest_ms));
    return {};
  }
  const Least least{kSearchIntervals, budget.slice * kSearchShare};
  std::vector<load::WindowPoint> curve;
  while (const auto window = load::next_window(curve, latency_ms, slowest_ms)) {
    PARETO_ASSIGN(const Steady steady, measure_throughput(load, request, *window, least));
    curve.push_back({*window, statistics::throughput_of_rounds({steady.intervals_s}, 1).front(),
                     statistics::throughput_interval({steady.intervals_s}, 1, seed_)});
  }
  window_ = load::choose_window(curve);
  return {};
}

Expected<TrialMeter::Steady> TrialMeter::measure_throughput(load::Load& load, const Value& request,
                                                            int window, const Least& least) {
  load::LoadOptions options = options_for(window);
  // What holds dear requests up is a link, and whoever waits before it is there from the first window on and to the last request.
  const int fill = dear() ? window : 2 * window;
  const int drain = dear() ? 0 : window;
  // Replicas have their results in bursts of a turn, as a pipeline has them in bursts of a window.
  const int burst = std::max(std::lcm(window, requests_of_turns(1)), 1);
  const int intervals = burst * ((least.intervals + burst - 1) / burst);
  options.requests = fill + (dear() ? kDearRuns : 1) * intervals + 1 + drain;
  options.duration = std::chrono::duration_cast<Nanoseconds>(least.duration);
  PARETO_ASSIGN(load::LoadResult result, load.run(request, options));
  std::vector<double> completions;
  for (const load::RequestSample& sample : result.samples) {
    completions.push_back(to_seconds(sample.completed));
  }
  Steady steady{statistics::steady_intervals(completions, burst, fill, drain), {}};
  steady.paused = !dear() && has_pause(result.samples, turn_);
  const auto first = std::make_move_iterator(result.samples.begin() + fill);
  // One completion more than the intervals between them.
  steady.samples.assign(first, first + static_cast<std::ptrdiff_t>(steady.intervals_s.size()) + 1);
  if (dear()) {
    const std::size_t whole = static_cast<std::size_t>(burst);
    steady.run = steady.intervals_s.size() / whole / kDearRuns * whole;
    steady.paused = runs_differ(steady.intervals_s, steady.run);
  }
  return steady;
}

Expected<TrialMeter::Steady> TrialMeter::measure_without_pause(load::Load& load,
                                                               const Value& request,
                                                               const Least& least) {
  const auto most = static_cast<std::size_t>(dear() ? kPausedDearLoads : kPausedRuns);
  std::vector<Steady> loads;
  do {
    PARETO_ASSIGN(Steady one, measure_throughput(load, request, window_, least));
    loads.push_back(std::move(one));
  } while (loads.front().paused && loads.size() < most);
  if (const std::size_t run = loads.front().run; run > 0) {
    std::vector<double> runs;
    for (const Steady& one : loads) {
      const auto whole =
          one.intervals_s.begin() + static_cast<std::ptrdiff_t>(one.intervals_s.size() / run * run);
      runs.insert(runs.end(), one.intervals_s.begin(), whole);
    }
    loads.front().intervals_s = statistics::median_run(runs, run);
    return std::move(loads.front());
  }
  std::ranges::sort(loads, {}, [](const Steady& one) { return statistics::mean(one.intervals_s); });
  return std::move(loads[loads.size() / 2]);
}

load::LoadOptions TrialMeter::options_for(int window) const {
  load::LoadOptions options;
  options.window = window;
  options.micro_batches = micro_batches_;
  options.request_timeout =
      load::timeout_for(from_nanoseconds(expected_latency_ms_ * 1e6), window, timeout_);
  return options;
}

std::uint64_t bytes_of_batch(std::uint64_t message_bytes, const plan::Plan& plan) {
  return message_bytes * static_cast<std::uint64_t>(plan.batch) /
         static_cast<std::uint64_t>(plan.message_batch());
}

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
  // Of all stages, or of each replica.
  std::vector<double> compute_ms(trial.plan.turn());
  std::vector<double> transfer_ms(trial.plan.turn());
  const auto lane_of = [&](std::size_t stage) { return trial.plan.replicated ? stage : 0; };
  const std::vector<Nanoseconds>& round_trips = deployment.round_trips();
  const std::vector<std::uint64_t> wire_bytes = deployment.wire_bytes();
  for (std::size_t i = 0; i < trial.plan.links(); ++i) {
    const plan::LinkEnds ends = trial.plan.ends_of(i);
    const std::size_t lane = lane_of(ends.to ? *ends.to : *ends.from);
    const double receive_ms =
        ends.to ? median_of_stage(rounds, *ends.to, &results::StageSamples::receive_ms)
                : sink_receive_ms(rounds, lane, trial.plan.turn());
    results::LinkFigures link;
    link.transfer_p50_ms = to_milliseconds(round_trips[i]) / 2 + receive_ms;
    const std::uint64_t message_bytes = ends.to ? deployment.shards()[*ends.to]->input_bytes
                                                : deployment.shards()[*ends.from]->output_bytes;
    link.bytes = bytes_of_batch(message_bytes, trial.plan);
    link.wire_bytes = wire_bytes[i] * static_cast<std::uint64_t>(trial.plan.messages());
    transfer_ms[lane] += link.transfer_p50_ms;
    trial.links.push_back(link);
    if (!ends.to) continue;
    const std::size_t to = *ends.to;
    const cluster::ResidentShard& shard = *deployment.shards()[to];
    results::StageFigures stage;
    stage.device = deployment.devices()[to]->config().name;
    stage.engine = shard.loaded.engine;
    stage.precision = shard.loaded.precision;
    stage.precision_reason = shard.loaded.precision_reason;
    stage.compute_p50_ms = median_of_stage(rounds, to, &results::StageSamples::compute_ms);
    stage.queue_p50_ms = median_of_stage(rounds, to, &results::StageSamples::queue_ms);
    stage.receive_p50_ms = receive_ms;
    stage.encode_p50_ms = median_of_stage(rounds, to, &results::StageSamples::encode_ms);
    stage.peak_memory_bytes = shard.loaded.memory_bytes;
    stage.weight_bytes = shard.weight_bytes;
    compute_ms[lane] += stage.compute_p50_ms;
    trial.stages.push_back(std::move(stage));
  }
  // The slowest replica's are what its latency is made of.
  std::size_t slowest = 0;
  for (std::size_t lane = 1; lane < compute_ms.size(); ++lane) {
    const auto whole = [&](std::size_t one) { return compute_ms[one] + transfer_ms[one]; };
    if (whole(lane) > whole(slowest)) slowest = lane;
  }
  trial.time_split = results::split_time(statistics::median(latency_ms), compute_ms[slowest],
                                         transfer_ms[slowest]);
  statistics::settle_alone(trial);
}

}  // namespace pareto::sweep
