#include "coordinator/sweep/trial_meter.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "coordinator/load/window_search.h"
#include "coordinator/statistics/statistics.h"
#include "coordinator/sweep/round_samples.h"

namespace pareto::sweep {

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
  const std::chrono::duration<double> wanted(expected_latency_ms_ / 1e3 *
                                             rules_.throughput.latencies);
  const auto duration = std::min(std::max(wanted, rules_.throughput.shortest),
                                 budget.slice * (1 - rules_.latency.slice_share));
  PARETO_ASSIGN(Steady steady,
                measure_without_pause(
                    load, request,
                    {is_slow() ? rules_.slow.fewest_intervals : rules_.throughput.fewest_intervals,
                     duration}));
  add_busy_samples(steady.samples, turn_, measured);
  measured.intervals_s = std::move(steady.intervals_s);
  return MeasuredRound{std::move(measured), std::move(latency.last_output), load.requests()};
}

Expected<> TrialMeter::warm_up(load::Load& load, const Value& request, bool fresh) {
  load::LoadOptions options = options_for(1);
  options.requests = requests_of_turns(1);
  PARETO_ASSIGN(const load::LoadResult first, load.run(request, options));
  expected_latency_ms_ = latencies_of(first.samples, turn_).front();
  // The connection was primed, and the latency is the network's.
  if (is_slow()) return {};
  options.requests = requests_of_turns(
      (fresh ? statistics::warm_up_requests(1) : rules_.latency.rewarm_requests) - 1);
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
    const double fitting = budget.slice.count() * 1e3 * rules_.latency.slice_share / turn_ms;
    const int fewest = is_slow() ? rules_.slow.fewest_requests : rules_.latency.fewest_requests;
    return std::min(wanted, std::max(fewest, static_cast<int>(std::min(fitting, double{1 << 20}))));
  };
  for (int attempt = 1;; ++attempt) {
    const bool was_slow = is_slow();
    options.requests = requests_of_turns(as_many_as_fit());
    PARETO_ASSIGN(load::LoadResult result, load.run(request, options));
    const std::vector<double> latencies = latencies_of(result.samples, turn_);
    expected_latency_ms_ = statistics::median(latencies);
    // Only the discarded request was slow.
    if (was_slow && !is_slow()) continue;
    const bool enough = latencies.size() >= 4;
    if (fresh && !is_slow() && attempt < rules_.latency.warm_up_tries && enough &&
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
  if (is_slow()) {
    window_ = load::roomy_window(latency_ms, slowest_ms);
    return {};
  }
  if (foreseen_window_ > 0) {
    window_ = std::max(foreseen_window_, load::roomy_window(latency_ms, slowest_ms));
    return {};
  }
  const Least least{rules_.throughput.search_intervals,
                    budget.slice * rules_.throughput.search_share};
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
  // Slow requests wait before a link. That queue is there after the first window, and lasts until
  // the last request.
  const int fill = is_slow() ? window : 2 * window;
  const int drain = is_slow() ? 0 : window;
  // Results of replicas come in bursts of a turn, those of a pipeline in bursts of a window.
  const int burst = std::max(std::lcm(window, requests_of_turns(1)), 1);
  const int intervals = burst * ((least.intervals + burst - 1) / burst);
  options.requests = fill + (is_slow() ? rules_.slow.runs : 1) * intervals + 1 + drain;
  options.duration = std::chrono::duration_cast<Nanoseconds>(least.duration);
  PARETO_ASSIGN(load::LoadResult result, load.run(request, options));
  std::vector<double> completions;
  for (const load::RequestSample& sample : result.samples) {
    completions.push_back(to_seconds(sample.completed));
  }
  Steady steady{statistics::steady_intervals(completions, burst, fill, drain), {}};
  steady.paused = !is_slow() && rules_.pause.is_seen_in(latencies_of(result.samples, turn_));
  const auto first = std::make_move_iterator(result.samples.begin() + fill);
  // One completion more than the intervals between them.
  steady.samples.assign(first, first + static_cast<std::ptrdiff_t>(steady.intervals_s.size()) + 1);
  if (is_slow()) {
    const auto whole = static_cast<std::size_t>(burst);
    const auto runs = static_cast<std::size_t>(rules_.slow.runs);
    steady.run = steady.intervals_s.size() / whole / runs * whole;
    steady.paused = rules_.slow.runs_differ(steady.intervals_s, steady.run);
  }
  return steady;
}

Expected<TrialMeter::Steady> TrialMeter::measure_without_pause(load::Load& load,
                                                               const Value& request,
                                                               const Least& least) {
  const auto most =
      static_cast<std::size_t>(is_slow() ? rules_.slow.loads_after_pause : rules_.pause.loads);
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

}  // namespace pareto::sweep
