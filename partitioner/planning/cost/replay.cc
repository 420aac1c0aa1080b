#include "partitioner/planning/cost/replay.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace pareto::planning {
namespace {

/// The share of the best throughput that a window may lack.
constexpr double kWithin = 0.01;

/// Draws a factor for each request. The mean of the factors is 1.
std::vector<double> drawn(const std::vector<double>& jitter, const ReplayOptions& options,
                          std::mt19937_64& random) {
  const auto count = static_cast<std::size_t>(options.requests);
  std::vector<double> factors;
  factors.reserve(count);
  while (factors.size() < count) {
    std::size_t next = random() % jitter.size();
    for (int i = 0; i < options.block && factors.size() < count; ++i) {
      factors.push_back(jitter[next]);
      if (++next == jitter.size()) next = 0;
    }
  }
  const double sum = std::accumulate(factors.begin(), factors.end(), 0.0);
  for (double& factor : factors) factor *= static_cast<double>(count) / sum;
  return factors;
}

/// A stage, a link or a shared channel, which takes requests one after another. Times are in ns.
struct Server {
  double occupancy = 0;  ///< time from one request to the next, on average, in ns
  /// Time from the end of the occupancy until a request goes on, in ns. It is less than 0 if the
  /// request goes on before that end.
  double beyond = 0;
  /// Index of the clock that says when the server is free. All servers of a shared channel have
  /// the same clock.
  std::size_t clock = 0;
  std::vector<double> times{};  ///< occupancies in ns, one a request; empty: all the same
};

/// The servers that a request passes, in order. With replicas, those of the one whose turn it is.
/// Results come back in the order of requests.
class Pipeline {
 public:
  /// Builds the servers of a placement that evaluate() takes.
  Pipeline(const CostInputs& inputs, const Placement& placement, const ReplayOptions& options)
      : requests_(static_cast<std::size_t>(options.requests)) {
    std::mt19937_64 random(options.seed);
    for (const Placement& replica : replicas_of(placement))
      add_replica(inputs, replica, options, random);
  }

  std::size_t turn() const { return replicas_.size(); }

  /// Returns response times of whole turns, in ns, from the first replica's on.
  std::vector<double> responses(int window) const {
    std::vector<double> free(clocks_);
    std::vector<double> returned(static_cast<std::size_t>(window));
    std::vector<double> responses;
    const std::size_t turns = (requests_ + turn() - 1) / turn();
    responses.reserve(turns * turn());
    const std::size_t settled = turn() * std::max(turns, 2 * returned.size());
    double last = 0;
    for (std::size_t k = 0; k < settled + turns * turn(); ++k) {
      double& slot = returned[k % returned.size()];
      const double sent = slot;
      slot = std::max(last, pass(replicas_[k % turn()], sent, k / turn() % requests_, free));
      last = slot;
      if (k >= settled) responses.push_back(slot - sent);
    }
    return responses;
  }

 private:
  void add_replica(const CostInputs& inputs, const Placement& placement,
                   const ReplayOptions& options, std::mt19937_64& random) {
    replicas_.emplace_back();
    std::map<int, std::size_t> media;  // places of the shared channels' servers
    int from = inputs.coordinator();
    Nanoseconds received{};
    for (std::size_t i = 0; i <= placement.stages.size(); ++i) {
      const bool last = i == placement.stages.size();
      const int to = last ? inputs.coordinator() : placement.stages[i].device;
      const int position = last ? inputs.positions() : placement.stages[i].begin;
      const LinkTimes times =
          crossing_times(inputs, from, to, placement.codecs.empty() ? 0 : placement.codecs[i],
                         i == 0 ? 0 : placement.stages[i - 1].begin, position);
      if (i > 0) add_stage(inputs, placement.stages[i - 1], received + times.send, options, random);
      add_link(inputs.link(from, to).media, times, media);
      received = times.receive;
      from = to;
    }
  }

  void add_stage(const CostInputs& inputs, const PlacedStage& stage, Nanoseconds messages,
                 const ReplayOptions& options, std::mt19937_64& random) {
    const DeviceCosts& device = inputs.devices[static_cast<std::size_t>(stage.device)];
    const Nanoseconds busy = device.when_busy().time(stage.begin, stage.end);
    Server server{to_nanoseconds(messages + busy),
                  to_nanoseconds(device.time(stage.begin, stage.end) - busy), clocks_++};
    if (!device.jitter.empty()) {
      server.times = drawn(device.jitter, options, random);
      for (double& time : server.times) time *= server.occupancy;
    }
    replicas_.back().push_back(std::move(server));
  }

  void add_link(const std::vector<MediumUse>& uses, const LinkTimes& times,
                std::map<int, std::size_t>& media) {
    std::vector<Server>& servers = replicas_.back();
    for (const MediumUse& use : uses) {
      // The channel's server stands where it is first used. It adds nothing to the latency.
      const auto [place, added] = media.emplace(use.medium, servers.size());
      if (added) servers.push_back({0, 0, clock_of(use.medium)});
      const double time = to_nanoseconds(use.time(times.occupancy));
      servers[place->second].occupancy += time;
      servers[place->second].beyond -= time;
    }
    servers.push_back({to_nanoseconds(times.occupancy), to_nanoseconds(times.delay), clocks_++});
  }

  std::size_t clock_of(int medium) {
    const auto [clock, added] = clocks_of_media_.emplace(medium, clocks_);
    if (added) ++clocks_;
    return clock->second;
  }

  /// Returns the time when the result of a request sent at `at` is there. `free`: time when each
  /// clock is free.
  static double pass(const std::vector<Server>& servers, double at, std::size_t row,
                     std::vector<double>& free) {
    for (const Server& server : servers) {
      const double time = server.times.empty() ? server.occupancy : server.times[row];
      const double start = std::max(at, free[server.clock]);
      free[server.clock] = start + time;
      at = start + std::max(time + server.beyond, 0.0);
    }
    return at;
  }

  const std::size_t requests_;
  std::vector<std::vector<Server>> replicas_;  ///< servers of the pipeline, or of each replica
  std::size_t clocks_ = 0;
  std::map<int, std::size_t> clocks_of_media_;
};

ReplayOutcome outcome_of(const Pipeline& pipeline, const Evaluation& evaluation, int window) {
  const std::vector<double> responses = pipeline.responses(window);
  std::vector<double> slowest;  // slowest response of each turn
  for (auto first = responses.begin(); first != responses.end();) {
    const auto next = first + static_cast<std::ptrdiff_t>(pipeline.turn());
    slowest.push_back(*std::max_element(first, next));
    first = next;
  }
  const auto quantile = [&](double share) {
    const auto place = std::llround(share * static_cast<double>(slowest.size() - 1));
    const auto found = slowest.begin() + place;
    std::ranges::nth_element(slowest, found);
    return from_nanoseconds(*found);
  };
  // Little's law gives the throughput. The mean is no shorter than without jitter, except for
  // roundings and for times of zero: the maximum covers these.
  const double least = to_nanoseconds(at_window(evaluation, window).latency);
  const double mean = std::accumulate(responses.begin(), responses.end(), 0.0) /
                      static_cast<double>(responses.size());
  const double response = std::max(mean, least);
  return {window, window / (response / 1e9), quantile(0.5), quantile(0.95), least / response};
}

Expected<Evaluation> evaluate_under(const CostInputs& inputs, const Placement& placement,
                                    int window) {
  if (window < 1 || window > kLargestSearchedWindow) {
    return fail(ErrorCode::kInvalidArgument, "a window of {}: 1 to {}", window,
                kLargestSearchedWindow);
  }
  return evaluate(inputs, placement);
}

}  // namespace

bool knows_jitter(const CostInputs& inputs, const Placement& placement) {
  return std::ranges::none_of(placement.stages, [&](const PlacedStage& stage) {
    return inputs.devices[static_cast<std::size_t>(stage.device)].jitter.empty();
  });
}

Expected<ReplayOutcome> replay(const CostInputs& inputs, const Placement& placement, int window,
                               const ReplayOptions& options) {
  PARETO_ASSIGN(const Evaluation evaluation, evaluate_under(inputs, placement, window));
  return outcome_of(Pipeline(inputs, placement, options), evaluation, window);
}

Expected<ReplayOutcome> replay_open(const CostInputs& inputs, const Placement& placement,
                                    int most_window, const ReplayOptions& options) {
  PARETO_ASSIGN(const Evaluation evaluation, evaluate_under(inputs, placement, most_window));
  const Pipeline pipeline(inputs, placement, options);
  const int enough = operating_points(evaluation, {1, most_window}).back().window;
  ReplayOutcome best = outcome_of(pipeline, evaluation, std::min(2 * enough, most_window));
  const double wanted = (1 - kWithin) * best.throughput_per_s;
  // Throughput does not fall as the window grows.
  int too_few = 0;
  while (too_few + 1 < best.window) {
    const ReplayOutcome middle =
        outcome_of(pipeline, evaluation, too_few + (best.window - too_few) / 2);
    if (middle.throughput_per_s >= wanted) {
      best = middle;
    } else {
      too_few = middle.window;
    }
  }
  return best;
}

}  // namespace pareto::planning
