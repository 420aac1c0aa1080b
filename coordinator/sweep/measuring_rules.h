// The rules by which one round of a trial is measured, and the same rules in words for the report.
//
// A unit is one round of one trial; its slice is the time that it may take. Requests are slow if
// one takes more than 250 ms: over a slow network, what varies is small next to what does not.
//
// | in a unit  | usual requests                        | slow requests                         |
// |------------|---------------------------------------|---------------------------------------|
// | discarded  | 10 on a new connection, 3 on another  | 1                                     |
// |   again    | until latencies are level, 3 times    | never                                 |
// | latency    | window 1, within 2/5 of the slice,    | the same,                             |
// |            | at least 8 requests                   | at least 3 requests                   |
// | window     | searched by short loads of 8          | roomy_window(), not searched          |
// |            | completions, or foreseen              |                                       |
// | throughput | for 30 latencies and 0.1 s, within    | the same, in 3 runs of whole windows, |
// |            | the slice, at least 12 completions,   | at least 2 completions each           |
// |            | in whole windows                      |                                       |
// |   fill     | 2 windows                             | 1 window                              |
// |   drain    | 1 window                              | none                                  |
// | a pause is | a request 50 ms slower than most, and | a run that takes 10 % longer than     |
// |   seen by  | half as long again                    | another one                           |
// |   and then | the load of median time counts, of 3  | the run of median time, of 2 loads    |
//
// A pause is a connection that stands still for as long as a short measurement takes; bbr looks for
// a shorter round trip every ten seconds. Slow requests show one in several runs, until those that
// wait have made up for it. What pauses cost a load of minutes, a few percent, is in no figure.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

namespace pareto::sweep {

/// Amount of measuring in one unit.
struct UnitBudget {
  /// The time of the unit: LatencyRule::slice_share of it for latency, the rest for throughput.
  std::chrono::duration<double> slice{0.4};
  /// The most requests for latency. Fewer are sent if they do not fit the slice.
  int latency_requests = 12;
  bool all_requests = false;  ///< true if all of them are sent, even if they do not fit
};

/// Requests one at a time.
struct LatencyRule {
  int fewest_requests = 8;   ///< in a unit, even if they do not fit the slice
  double slice_share = 0.4;  ///< the part of the slice that is for latency
  /// The times that latency is measured on a new connection, at most, until it is level.
  int warm_up_tries = 3;
  /// Requests discarded on a connection that has been used: caches are cold, the connection is not.
  int rewarm_requests = 3;
};

/// Requests at the window, and the loads that search for the window.
struct ThroughputRule {
  double latencies = 30;                        ///< the least duration, in latencies
  std::chrono::duration<double> shortest{0.1};  ///< the least duration, whatever a latency is
  int fewest_intervals = 12;                    ///< between completions, even beyond the slice
  int search_intervals = 8;                     ///< in a load that searches for the window
  double search_share = 0.1;                    ///< the part of the slice that such a load takes
};

/// Plans of slow requests are measured with fewer of them, and without a search.
struct SlowRequestRule {
  double longer_than_ms = 250;
  int fewest_requests = 3;    ///< in a unit for latency, in place of LatencyRule's
  int fewest_intervals = 2;   ///< in a run, in place of ThroughputRule's
  int runs = 3;               ///< in a load, one after the other
  double difference = 0.1;    ///< between the times of two runs, as a share: a connection paused
  int loads_after_pause = 2;  ///< in all, the first one included

  bool applies_to(double latency_ms) const { return latency_ms > longer_than_ms; }
  /// Returns whether one run of `length` intervals took longer than another by `difference`.
  bool runs_differ(std::span<const double> intervals_s, std::size_t length) const;
};

/// A pause among requests that are not slow.
struct PauseRule {
  std::chrono::milliseconds longer_by{50};  ///< than the median latency
  double times_as_long = 1.5;               ///< as the median latency
  int loads = 3;                            ///< in all, the first one included

  /// Returns whether the slowest of one load's latencies tells of a pause.
  bool is_seen_in(std::span<const double> latencies_ms) const;
};

/// All of them: the table at the top of this file.
struct MeasuringRules {
  LatencyRule latency;
  ThroughputRule throughput;
  SlowRequestRule slow;
  PauseRule pause;

  /// Returns the rules in words, for the report: how one round of a trial is measured.
  std::string describe(const UnitBudget& budget) const;
};

/// The rules that every sweep measures by.
inline constexpr MeasuringRules kMeasuringRules{};

}  // namespace pareto::sweep
