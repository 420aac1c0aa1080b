// Measures one trial, a unit (one round of it) at a time, and turns what was seen into the trial's figures.
//
// The latency of replicas is that of each turn's slowest request: what is predicted of them, and what all of their requests keep.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "coordinator/cluster/deployment.h"
#include "coordinator/load/load.h"
#include "coordinator/results/record.h"
#include "core/base/error.h"
#include "core/tensor/value.h"

namespace pareto::sweep {

/// How much is measured in one unit.
struct UnitBudget {
  std::chrono::duration<double> slice{
      0.4};  ///< at most two fifths for latency, the rest for throughput
  int latency_requests =
      12;  ///< at most; fewer where they do not fit the slice, never below kFewestRequests
  bool all_requests = false;  ///< so many whether they fit or not
};

inline constexpr int kFewestRequests = 8;
/// Throughput is measured for this many latencies and at least kShortestThroughput, if the slice has room for them …
inline constexpr double kThroughputLatencies = 30;
inline constexpr std::chrono::duration<double> kShortestThroughput{0.1};
/// … and in any case for so many completions between fill and drain.
inline constexpr int kFewestIntervals = 12;
/// The loads that search for a window are shorter: a tenth of the slice each, and at least so many completions.
inline constexpr int kSearchIntervals = 8;
/// Requests discarded at the beginning of a unit that is not its trial's first: caches are cold, connections are not.
inline constexpr int kRewarmRequests = 3;
/// Requests that take longer are dear: over a slow network, where what varies is small beside what does not. A plan of such requests has
/// fewer of all: one is discarded, so many are measured for latency, so many intervals for throughput, in whole windows, after a single
/// window and without a drain, and its window is W* (roomy_window) and not searched. Now and then a slow connection pauses for as
/// long as such a measurement (bbr looks for a shorter round trip every ten seconds): throughput is measured so many times in a row, and
/// that which took the median time counts. A long pause is seen in several of them, window after window, until the requests that wait have
/// made up for it: where one took longer than another by kDearDifference, so many are measured once more, and the median of all counts.
inline constexpr double kDearRequestMs = 250;
inline constexpr int kFewestDearRequests = 3;
inline constexpr int kFewestDearIntervals = 2;
inline constexpr int kDearRuns = 3;
inline constexpr double kDearDifference = 0.1;
inline constexpr int kPausedDearLoads = 2;
/// Throughput of other requests is measured as often only where such a pause was seen (has_pause). What pauses cost a load that goes on for
/// minutes, a few percent, is in no figure then.
inline constexpr int kPausedRuns = 3;
inline constexpr std::chrono::milliseconds kPause{50};

/// The rules above in words, for the report: how one round of a trial is measured.
std::string describe_rules(const UnitBudget& budget);

/// Whether the slowest request of one load took longer than the median one by kPause, and by half: a connection held it up. `turn`: as
/// Plan's; of replicas turns are compared.
bool has_pause(std::span<const load::RequestSample> samples, std::size_t turn = 1);

/// Whether one of the runs of so many intervals, one after the other, took longer than another by kDearDifference.
bool runs_differ(std::span<const double> intervals_s, std::size_t length);

struct MeasuredRound {
  results::TrialRound round;
  Value output;               ///< of the pipeline, for the last request whose latency was measured
  std::int64_t requests = 0;  ///< that it took, those of warm-up and window search too
};

/// Threads: one owner.
class TrialMeter {
 public:
  /// `window`: the requests in flight for throughput; 0: found in the first unit, by search or from what is foreseen (window_search.h).
  /// `micro_batches`: as in LoadOptions. `timeout`: of a request while nothing is known of what they take, and the least of later ones.
  TrialMeter(int window, std::uint64_t seed, std::vector<std::int64_t> micro_batches = {},
             std::chrono::milliseconds timeout = load::kRequestTimeout)
      : window_(window), seed_(seed), micro_batches_(std::move(micro_batches)), timeout_(timeout) {}

  /// The window that a prediction found to be enough: it is taken, or W* by what was measured where that is more, and none is searched.
  void foresee_window(int window);

  /// One round through an open deployment: warm-up, latency at window 1, throughput at the window. `fresh`: the deployment's
  /// connections are new, or it never ran the plan before. Fails: as Load::run.
  Expected<MeasuredRound> measure(cluster::Deployment& deployment, const Value& request, int round,
                                  bool fresh, const UnitBudget& budget);

 private:
  /// The first unit's are more, unless they are dear.
  Expected<> warm_up(load::Load& load, const Value& request, bool fresh);
  int requests_of_turns(int turns) const { return turns * static_cast<int>(turn_); }
  bool dear() const { return expected_latency_ms_ > kDearRequestMs; }
  Expected<load::LoadResult> measure_latency(load::Load& load, const Value& request, bool fresh,
                                             const UnitBudget& budget);
  /// Sets window_. `alone`: what requests took at window 1.
  Expected<> find_window(load::Load& load, const Value& request, const results::TrialRound& alone,
                         const UnitBudget& budget);
  /// At least this long, and so many intervals between completions; those are returned.
  struct Least {
    int intervals = 0;
    std::chrono::duration<double> duration{};
  };
  /// With the requests' samples, those of fill and drain left out.
  struct Steady {
    std::vector<double> intervals_s;
    std::vector<load::RequestSample> samples;
    std::size_t run =
        0;  ///< of dear requests: intervals that are one of kDearRuns; what is left over is none
    bool paused = false;
  };
  Expected<Steady> measure_throughput(load::Load& load, const Value& request, int window,
                                      const Least& least);
  /// As measure_throughput; where that saw a pause, the median of kPausedRuns such loads. Of dear requests the median run of one load, or
  /// of kPausedDearLoads.
  Expected<Steady> measure_without_pause(load::Load& load, const Value& request,
                                         const Least& least);
  load::LoadOptions options_for(int window) const;

  int window_;               ///< 0 = not known yet
  int foreseen_window_ = 0;  ///< 0 = none is foreseen
  std::size_t turn_ = 1;     ///< of the deployment in hand
  const std::uint64_t seed_;
  const std::vector<std::int64_t> micro_batches_;
  const std::chrono::milliseconds timeout_;
  double expected_latency_ms_ = 0;  ///< of the last few requests; 0 = not known yet
};

/// Of a whole batch, from those of one message.
std::uint64_t bytes_of_batch(std::uint64_t message_bytes, const plan::Plan& plan);

/// Fills all figures of a trial from its rounds, at least one. `deployment`: the one that was measured last; its stages are asked what
/// travelled.
void summarize(const cluster::Deployment& deployment, results::TrialRecord& trial);

}  // namespace pareto::sweep
