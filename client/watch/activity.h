// Activity of devices and pipelines between two readings: rates, shares, and percentiles of
// differences. Each device's are on its own clock.
//
//   Watcher ──DeviceReadings, twice──▶ activity_between ──Activity──▶ bottleneck_of
//       ──▶ top_text, top_json
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/cluster/observation.h"
#include "core/base/clock.h"
#include "core/base/duration_histogram.h"

namespace pareto::watch {

/// A device that was asked.
struct DeviceReading {
  std::string name;
  std::string address;
  std::string problem;  ///< why there is no observation; empty: there is one
  int cores = 1;
  std::string runs_on;    ///< "cpu", "cuda:0"
  bool imitated = false;  ///< whether the device is imitated; see DeviceInfo
  cluster::Observation observation;
};

/// The range in which a percentile of durations lies: a histogram knows it no better than by its
/// steps.
struct DurationRange {
  double low_ms = 0;
  std::optional<double> high_ms;  ///< no value means that it is above every bound
};

/// Durations of requests that were done meanwhile.
struct DurationFigures {
  double mean_ms = 0;
  DurationRange p50;
  DurationRange p95;
};

/// Rates of a stage. Shares of time are at most 1; work under way counts when it is done.
struct StageRates {
  double requests_per_s = 0;
  double failed_per_s = 0;   ///< dropped ones included
  double dropped_per_s = 0;  ///< requests that were too late to be computed
  double bytes_in_per_s = 0;
  double bytes_out_per_s = 0;
  double computing = 0;  ///< share of time
  /// Share of time that its shard computes, for other pipelines too.
  double shard_computing = 0;
  double receiving = 0;  ///< share of time that requests were coming in
  double sending = 0;    ///< share of time until the link had taken what was sent
  /// Share of time that each worker of its schedule computes; empty: it has none, or another one.
  std::vector<double> workers;
  /// Times of requests that were computed meanwhile; no value means there were none.
  std::optional<DurationFigures> compute;
  std::optional<DurationFigures> wait;
};

struct StageView {
  std::size_t device = 0;  ///< index in Activity::devices
  control::StageActivity now;
  std::optional<StageRates> rates;  ///< no value means it was not there before, or has begun again
};

struct DeviceView {
  DeviceReading reading;
  /// Time between its two readings; no value means there is only one.
  std::optional<double> seconds;
  std::optional<double> cpu;  ///< share of its cores that its daemon kept busy
  /// Share of the cores that its stages may compute on, for which they held turns.
  std::optional<double> turns;
};

/// A way between two stages, or to or from the coordinator.
struct LinkView {
  std::string from;            ///< "stage 0 on pi-1", "source", "stage 0 (not seen)"
  std::string to;              ///< "sink"
  std::optional<double> busy;  ///< share of time that bytes were on their way
  std::optional<double> bytes_per_s;
  std::optional<Nanoseconds> round_trip;               ///< when the pipeline was deployed
  std::optional<std::uint64_t> bytes_per_second_then;  ///< the same way: what the link carries
};

enum class Limit {
  kUnknown,  ///< there are no rates yet
  kIdle,     ///< nothing is in flight
  kPending,  ///< requests are in flight, none was done meanwhile
  kNone,     ///< nobody is busy all the time
  kStage,
  kLink,
  kFailed,    ///< a stage of it failed
  kDraining,  ///< a stage of it takes no more requests
};

/// The part that limits a pipeline's rate.
struct Bottleneck {
  Limit limit = Limit::kUnknown;
  /// Index in PipelineView::links for kLink, else that of the stage in stages.
  std::size_t index = 0;
  double share = 0;   ///< share of time that it is busy
  std::string words;  ///< a sentence without its full stop
};

struct PipelineView {
  std::uint64_t id = 0;
  std::string model;
  std::vector<StageView> stages;         ///< stages by number; those that are seen
  std::vector<LinkView> links;           ///< into each of them, then out of the last
  std::uint64_t in_flight = 0;           ///< requests in all of them
  std::optional<double> requests_per_s;  ///< requests that leave the last stage
  Bottleneck bottleneck;
};

struct Activity {
  std::vector<DeviceView> devices;      ///< devices in the order in which they were asked
  std::vector<PipelineView> pipelines;  ///< pipelines by id
};

/// Returns the activity between two readings. `before` is empty, or has the same devices in the
/// same order. Closed stages are left out.
Activity activity_between(const std::vector<DeviceReading>& before,
                          const std::vector<DeviceReading>& now);

/// Returns the step of the duration that this share of durations stays below, 0 to 1. Returns no
/// value if there are none.
std::optional<DurationRange> quantile_range(const DurationCounts& durations, double share);

/// Returns "stage 1 on pi-2".
std::string stage_name(const Activity& activity, const StageView& stage);
/// Returns "12 %" of 0.12.
std::string percent(double share);

}  // namespace pareto::watch
