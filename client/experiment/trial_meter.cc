#include "client/experiment/trial_meter.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "client/experiment/statistics.h"
#include "client/experiment/statistics_rounds.h"
#include "client/experiment/window_search.h"

namespace pareto::client {
namespace {

constexpr double kLatencyShare = 0.4;
constexpr double kSearchShare = 0.1;
constexpr int kWarmUpTries = 3;

std::vector<double> latencies_of(std::span<const RequestSample> samples) {
  std::vector<double> latencies;
  for (const RequestSample& sample : samples) {
    latencies.push_back(to_milliseconds(sample.latency()));
  }
  return latencies;
}

/// Everything a round's requests took on their way through `stages` stages.
Expected<TrialRound> samples_of(const LoadResult& result, std::size_t stages) {
  TrialRound round;
  round.latency_ms = latencies_of(result.samples);
  round.stages.resize(stages);
  for (const RequestSample& sample : result.samples) {
    if (sample.timeline.size() != stages) {
      return fail(ErrorCode::kCorrupt, "a result passed {} stages, not {}", sample.timeline.size(),
                  stages);
    }
    round.sink_receive_ms.push_back(to_milliseconds(sample.sink.receive) +
                                    to_milliseconds(sample.sink.decode));
    for (std::size_t i = 0; i < stages; ++i) {
      const wire::StageTimes& times = sample.timeline[i];
      round.stages[i].compute_ms.push_back(to_milliseconds(times.compute));
      round.stages[i].queue_ms.push_back(to_milliseconds(times.queue));
      round.stages[i].receive_ms.push_back(to_milliseconds(times.receive) +
                                           to_milliseconds(times.decode));
      round.stages[i].encode_ms.push_back(to_milliseconds(times.encode));
    }
  }
  return round;
}

/// What stages took of requests that follow each other.
void add_busy_samples(const std::vector<RequestSample>& samples, TrialRound& round) {
  for (const RequestSample& sample : samples) {
    if (sample.timeline.size() != round.stages.size()) continue;
    for (std::size_t i = 0; i < round.stages.size(); ++i) {
      const wire::StageTimes& times = sample.timeline[i];
      const Nanoseconds others = times.receive_cpu + times.send_cpu;
      round.stages[i].busy_ms.push_back(
          to_milliseconds(std::max(times.compute_cpu, times.compute - others)));
    }
  }
}

/// What its slowest stage or link takes of a request: a stage receives and sends while it computes.
double bottleneck_ms(const TrialRound& round) {
  double slowest = median(round.sink_receive_ms);
  for (const StageSamples& stage : round.stages) {
    slowest = std::max({slowest, median(stage.compute_ms), median(stage.receive_ms)});
  }
  return slowest;
}

/// The samples of one kind of all rounds, in the order measured.
template <typename Samples>
std::vector<double> joined(const std::vector<TrialRound>& rounds, Samples samples) {
  std::vector<double> all;
  for (const TrialRound& round : rounds) {
    const std::vector<double>& some = samples(round);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

double median_of_stage(const std::vector<TrialRound>& rounds, std::size_t stage,
                       std::vector<double> StageSamples::*samples) {
  return median(joined(rounds, [&](const TrialRound& round) -> const std::vector<double>& {
    return round.stages[stage].*samples;
  }));
}

}  // namespace

bool has_pause(std::span<const RequestSample> samples) {
  if (samples.empty()) return false;
  const std::vector<double> latencies = latencies_of(samples);
  const double usual = median(latencies);
  const double slowest = std::ranges::max(latencies);
  return slowest > std::max(usual + to_milliseconds(kPause), usual * 1.5);
}

std::string describe_rules(const UnitBudget& budget) {
  return fmt::format(
      "A unit (one trial in one round) has a slice of "
      "{:.2f} s. A trial's first unit on a connection discards {} requests, then measures again "
      "(at most {} times) until the halves "
      "of its latencies agree within 1 % or do not differ; later units discard {}. Latency: window "
      "1, {} requests a unit, fewer "
      "where they exceed two fifths of the slice, at least {}. Throughput: slope of the "
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
      "which took the median time, at a window of 1.25 x latency / bottleneck. Intervals: 95 %, "
      "Student's of the rounds' logarithms, a round one "
      "observation, and no narrower than by a stationary block bootstrap within the rounds, blocks "
      "of 5 x the correlation length.",
      budget.slice.count(), warm_up_requests(1), kWarmUpTries, kRewarmRequests,
      budget.latency_requests, std::min(kFewestRequests, budget.latency_requests),
      kThroughputLatencies, kShortestThroughput.count(), kFewestIntervals, kSearchIntervals,
      kPause.count(), kPausedRuns, kDearRequestMs,
      std::min(kFewestDearRequests, budget.latency_requests), kFewestDearIntervals, kDearRuns);
}

void TrialMeter::foresee_window(int window) {
  foreseen_window_ = std::clamp(window, 0, kLargestWindow);
}

Expected<MeasuredRound> TrialMeter::measure(Deployment& deployment, const Value& request, int round,
                                            bool fresh, const UnitBudget& budget) {
  Load load(deployment.source(), deployment.sink(), deployment.pipeline());
  PARETO_TRY(warm_up(load, request, fresh));
  PARETO_ASSIGN(LoadResult latency, measure_latency(load, request, fresh, budget));
  PARETO_ASSIGN(TrialRound measured, samples_of(latency, deployment.devices().size()));
  if (window_ == 0) PARETO_TRY(find_window(load, request, measured, budget));
  measured.round = round;
  measured.window = window_;
  const std::chrono::duration<double> wanted(expected_latency_ms_ / 1e3 * kThroughputLatencies);
  const auto duration =
      std::min(std::max(wanted, kShortestThroughput), budget.slice * (1 - kLatencyShare));
  PARETO_ASSIGN(Steady steady,
                measure_without_pause(
                    load, request, {dear() ? kFewestDearIntervals : kFewestIntervals, duration}));
  add_busy_samples(steady.samples, measured);
  measured.intervals_s = std::move(steady.intervals_s);
  return MeasuredRound{std::move(measured), std::move(latency.last_output), load.requests()};
}

Expected<> TrialMeter::warm_up(Load& load, const Value& request, bool fresh) {
  LoadOptions options = options_for(1);
  options.requests = 1;
  PARETO_ASSIGN(const LoadResult first, load.run(request, options));
  expected_latency_ms_ = latencies_of(first.samples).front();
  // Its connection was primed, and its latency is the network's.
  if (dear()) return {};
  options.requests = (fresh ? warm_up_requests(1) : kRewarmRequests) - 1;
  PARETO_ASSIGN(const LoadResult more, load.run(request, options));
  expected_latency_ms_ = median(latencies_of(more.samples));
  return {};
}

Expected<LoadResult> TrialMeter::measure_latency(Load& load, const Value& request, bool fresh,
                                                 const UnitBudget& budget) {
  LoadOptions options = options_for(1);
  const auto as_many_as_fit = [&] {
    const double fitting =
        budget.slice.count() * 1e3 * kLatencyShare / std::max(expected_latency_ms_, 1e-3);
    const int fewest = dear() ? kFewestDearRequests : kFewestRequests;
    return std::min(budget.latency_requests,
                    std::max(fewest, static_cast<int>(std::min(fitting, double{1 << 20}))));
  };
  for (int attempt = 1;; ++attempt) {
    const bool was_dear = dear();
    options.requests = as_many_as_fit();
    PARETO_ASSIGN(LoadResult result, load.run(request, options));
    const std::vector<double> latencies = latencies_of(result.samples);
    expected_latency_ms_ = median(latencies);
    // The one discarded was dear by accident.
    if (was_dear && !dear()) continue;
    const bool enough = latencies.size() >= 4;
    if (fresh && !dear() && attempt < kWarmUpTries && enough && !is_level(latencies, seed_))
      continue;
    options.requests = budget.latency_requests - static_cast<int>(result.samples.size());
    if (!budget.all_requests || options.requests <= 0) return result;
    PARETO_ASSIGN(LoadResult rest, load.run(request, options));
    std::ranges::move(rest.samples, std::back_inserter(result.samples));
    result.last_output = std::move(rest.last_output);
    return result;
  }
}

Expected<> TrialMeter::find_window(Load& load, const Value& request, const TrialRound& alone,
                                   const UnitBudget& budget) {
  const double latency_ms = median(alone.latency_ms);
  const double slowest_ms = bottleneck_ms(alone);
  if (dear()) {
    window_ = roomy_window(latency_ms, slowest_ms);
    return {};
  }
  if (foreseen_window_ > 0) {
    window_ = std::max(foreseen_window_, roomy_window(latency_ms, slowest_ms));
    return {};
  }
  const Least least{kSearchIntervals, budget.slice * kSearchShare};
  std::vector<WindowPoint> curve;
  while (const auto window = next_window(curve, latency_ms, slowest_ms)) {
    PARETO_ASSIGN(const Steady steady, measure_throughput(load, request, *window, least));
    curve.push_back({*window, throughput_of_rounds({steady.intervals_s}, 1).front(),
                     throughput_interval({steady.intervals_s}, 1, seed_)});
  }
  window_ = choose_window(curve);
  return {};
}

Expected<TrialMeter::Steady> TrialMeter::measure_throughput(Load& load, const Value& request,
                                                            int window, const Least& least) {
  LoadOptions options = options_for(window);
  // What holds dear requests up is a link, and whoever waits before it is there from the first window on and to the last request.
  const int fill = dear() ? window : 2 * window;
  const int drain = dear() ? 0 : window;
  const int intervals = window * ((least.intervals + window - 1) / window);
  options.requests = fill + (dear() ? kDearRuns : 1) * intervals + 1 + drain;
  options.duration = std::chrono::duration_cast<Nanoseconds>(least.duration);
  PARETO_ASSIGN(LoadResult result, load.run(request, options));
  std::vector<double> completions;
  for (const RequestSample& sample : result.samples) {
    completions.push_back(to_seconds(sample.completed));
  }
  Steady steady{steady_intervals(completions, window, fill, drain), {}};
  // Dear ones are measured several times in any case.
  steady.paused = !dear() && has_pause(result.samples);
  const auto first = std::make_move_iterator(result.samples.begin() + fill);
  // One completion more than the intervals between them.
  steady.samples.assign(first, first + static_cast<std::ptrdiff_t>(steady.intervals_s.size()) + 1);
  if (dear()) {
    const std::size_t whole = static_cast<std::size_t>(window);
    const std::size_t windows = steady.intervals_s.size() / whole / kDearRuns;
    steady.intervals_s = median_run(steady.intervals_s, windows * whole);
  }
  return steady;
}

Expected<TrialMeter::Steady> TrialMeter::measure_without_pause(Load& load, const Value& request,
                                                               const Least& least) {
  std::vector<Steady> runs;
  do {
    PARETO_ASSIGN(Steady run, measure_throughput(load, request, window_, least));
    runs.push_back(std::move(run));
  } while (runs.front().paused && runs.size() < kPausedRuns);
  std::ranges::sort(runs, {}, [](const Steady& run) { return mean(run.intervals_s); });
  return std::move(runs[runs.size() / 2]);
}

LoadOptions TrialMeter::options_for(int window) const {
  LoadOptions options;
  options.window = window;
  options.micro_batches = micro_batches_;
  options.request_timeout =
      timeout_for(from_nanoseconds(expected_latency_ms_ * 1e6), window, timeout_);
  return options;
}

std::uint64_t bytes_of_batch(std::uint64_t message_bytes, const Plan& plan) {
  return message_bytes * static_cast<std::uint64_t>(plan.batch) /
         static_cast<std::uint64_t>(plan.message_batch());
}

void summarize(const Deployment& deployment, TrialRecord& trial) {
  const std::vector<TrialRound>& rounds = trial.rounds;
  const std::vector<double> latency_ms = joined(
      rounds, [](const TrialRound& round) -> auto& { return round.latency_ms; });
  LatencyFigures& latency = trial.latency;
  latency.p50_ms = median(latency_ms);
  latency.p90_ms = quantile(latency_ms, 0.9);
  latency.p95_ms = quantile(latency_ms, 0.95);
  latency.p99_ms = quantile(latency_ms, 0.99);
  latency.mean_ms = mean(latency_ms);
  latency.ci95_ms = figure_interval(latency.p50_ms, latency_figures(rounds));
  latency.window = 1;
  latency.samples = static_cast<std::int64_t>(latency_ms.size());

  std::vector<std::vector<double>> intervals_s;
  for (const TrialRound& round : rounds) intervals_s.push_back(round.intervals_s);
  ThroughputFigures& throughput = trial.throughput;
  throughput.samples_per_s = median(throughput_of_rounds(intervals_s, trial.batch));
  throughput.ci95 =
      figure_interval(throughput.samples_per_s, throughput_figures(rounds, trial.batch));
  throughput.window = rounds.front().window;
  throughput.samples = 0;
  for (const auto& round : intervals_s) {
    throughput.samples += static_cast<std::int64_t>(round.size());
  }

  trial.stages.clear();
  trial.links.clear();
  double compute_ms = 0;
  double transfer_ms = 0;
  const std::size_t stages = deployment.devices().size();
  const std::vector<Nanoseconds>& round_trips = deployment.round_trips();
  const std::vector<std::uint64_t> wire_bytes = deployment.wire_bytes();
  for (std::size_t i = 0; i <= stages; ++i) {
    const bool to_sink = i == stages;
    const double receive_ms =
        to_sink
            ? median(joined(
                  rounds, [](const TrialRound& round) -> auto& { return round.sink_receive_ms; }))
            : median_of_stage(rounds, i, &StageSamples::receive_ms);
    LinkFigures link;
    link.transfer_p50_ms = to_milliseconds(round_trips[i]) / 2 + receive_ms;
    const std::uint64_t message_bytes =
        to_sink ? deployment.shards()[i - 1]->output_bytes : deployment.shards()[i]->input_bytes;
    link.bytes = bytes_of_batch(message_bytes, trial.plan);
    link.wire_bytes = wire_bytes[i] * static_cast<std::uint64_t>(trial.plan.messages());
    transfer_ms += link.transfer_p50_ms;
    trial.links.push_back(link);
    if (to_sink) break;
    const ResidentShard& shard = *deployment.shards()[i];
    StageFigures stage;
    stage.device = deployment.devices()[i]->config().name;
    stage.engine = shard.loaded.engine;
    stage.compute_p50_ms = median_of_stage(rounds, i, &StageSamples::compute_ms);
    stage.queue_p50_ms = median_of_stage(rounds, i, &StageSamples::queue_ms);
    stage.receive_p50_ms = receive_ms;
    stage.encode_p50_ms = median_of_stage(rounds, i, &StageSamples::encode_ms);
    stage.peak_memory_bytes = shard.loaded.memory_bytes;
    stage.weight_bytes = shard.weight_bytes;
    compute_ms += stage.compute_p50_ms;
    trial.stages.push_back(std::move(stage));
  }
  // Medians of parts may exceed the median of the whole by a little: the parts are cut so that they add up.
  TimeSplit& split = trial.time_split;
  split.compute_ms = std::min(compute_ms, latency.p50_ms);
  split.transfer_ms = std::min(transfer_ms, latency.p50_ms - split.compute_ms);
  split.wait_ms = latency.p50_ms - split.compute_ms - split.transfer_ms;
}

}  // namespace pareto::client
