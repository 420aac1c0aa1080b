// Measures one trial, a unit (one round of it) at a time, by the rules of measuring_rules.h.
//
//   warm-up ──▶ latency at window 1 ──▶ the window, in the first unit ──▶ throughput at the window
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "coordinator/cluster/deployment.h"
#include "coordinator/load/load.h"
#include "coordinator/results/record.h"
#include "coordinator/sweep/measuring_rules.h"
#include "core/base/error.h"
#include "core/tensor/value.h"

namespace pareto::sweep {

/// The result of one unit.
struct MeasuredRound {
  results::TrialRound round;
  Value output;               ///< the pipeline's, for the last request whose latency was measured
  std::int64_t requests = 0;  ///< all that were sent, also for warm-up and window search
};

/// The rounds of one trial, and the window that the first of them found.
///
/// Threads: one owner.
class TrialMeter {
 public:
  /// `window`: the requests in flight for throughput. 0 means that the first unit finds it, by
  /// search or from what is foreseen (window_search.h). `micro_batches`: as in LoadOptions.
  /// `timeout`: of a request while no latency is known, and the least of later ones.
  TrialMeter(int window, std::uint64_t seed, std::vector<std::int64_t> micro_batches = {},
             std::chrono::milliseconds timeout = load::kRequestTimeout)
      : window_(window), seed_(seed), micro_batches_(std::move(micro_batches)), timeout_(timeout) {}

  /// Takes the window that a prediction found to be enough, in place of a search. The first unit
  /// takes roomy_window() of what it measured if that is more.
  void foresee_window(int window);

  /// Measures one round through an open deployment. `fresh`: the deployment's connections are new,
  /// or it never ran the plan before. Fails: as Load::run.
  Expected<MeasuredRound> measure(cluster::Deployment& deployment, const Value& request, int round,
                                  bool fresh, const UnitBudget& budget);

 private:
  /// A load is at least this long, and has at least as many intervals between completions.
  struct Least {
    int intervals = 0;
    std::chrono::duration<double> duration{};
  };
  /// A load between fill and drain.
  struct Steady {
    std::vector<double> intervals_s;
    std::vector<load::RequestSample> samples;
    std::size_t run = 0;  ///< intervals of one of SlowRequestRule::runs; 0: requests are not slow
    bool paused = false;
  };

  Expected<> warm_up(load::Load& load, const Value& request, bool fresh);
  int requests_of_turns(int turns) const { return turns * static_cast<int>(turn_); }
  bool is_slow() const { return rules_.slow.applies_to(expected_latency_ms_); }
  Expected<load::LoadResult> measure_latency(load::Load& load, const Value& request, bool fresh,
                                             const UnitBudget& budget);
  /// Sets window_. `alone`: what requests took at window 1.
  Expected<> find_window(load::Load& load, const Value& request, const results::TrialRound& alone,
                         const UnitBudget& budget);
  Expected<Steady> measure_throughput(load::Load& load, const Value& request, int window,
                                      const Least& least);
  /// Like measure_throughput(), but after a pause the load is repeated, and the median counts.
  Expected<Steady> measure_without_pause(load::Load& load, const Value& request,
                                         const Least& least);
  load::LoadOptions options_for(int window) const;

  const MeasuringRules rules_ = kMeasuringRules;
  int window_;               ///< 0 = not known yet
  int foreseen_window_ = 0;  ///< 0 = none is foreseen
  std::size_t turn_ = 1;     ///< replicas of the deployment in hand
  const std::uint64_t seed_;
  const std::vector<std::int64_t> micro_batches_;
  const std::chrono::milliseconds timeout_;
  double expected_latency_ms_ = 0;  ///< the last few requests'; 0 = not known yet
};

}  // namespace pareto::sweep
