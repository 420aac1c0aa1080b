// Record of a sweep: a run, its devices, its trials and their samples, as plain data. Written by
// coordinator/sweep, kept by coordinator/results, shown by client/report. The JSON of `sweep
// --json` has these fields (client/report/json_writer.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/machine.h"
#include "core/plan/plan.h"
#include "core/tensor/value_spec.h"

namespace pareto::results {

/// Figures no further apart than this share count as the same: on a front nobody is beaten by less,
/// and in their order they are equals.
inline constexpr double kFrontTolerance = 0.01;

/// A measured figure with its 95 % interval.
struct Interval {
  double low = 0;
  double high = 0;
};

struct LatencyFigures {
  /// The figure that is shown, compared and sorted by: what the median is believed to be, as it is
  /// printed (front.h makes it).
  double p50_ms = 0;
  double p90_ms = 0;
  double p95_ms = 0;  ///< not kept: made from the samples again
  double p99_ms = 0;
  double mean_ms = 0;
  Interval ci95_ms;  ///< interval of the p50
  int window = 1;
  std::int64_t samples = 0;
  double measured_p50_ms = 0;  ///< median of all requests of the trial's rounds
};

struct ThroughputFigures {
  double samples_per_s = 0;  ///< the figure that is shown, compared and sorted by, as p50_ms is
  Interval ci95;
  int window = 1;
  std::int64_t samples = 0;
  double measured_per_s = 0;  ///< median of the trial's rounds
};

struct StageFigures {
  std::string device;
  std::string engine;         ///< the one the device kept
  double compute_p50_ms = 0;  ///< p50 at the latency window
  double queue_p50_ms = 0;
  double receive_p50_ms = 0;
  double encode_p50_ms = 0;
  /// Bytes that the shard takes of the daemon, with all that other shards have in common with it.
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t weight_bytes = 0;
  /// Precision that the engine computes in; empty: the version did not say.
  std::string precision{};
  std::string precision_reason{};  ///< why that is not the one asked for; empty: it is
  /// Title of the schedule that the device kept; empty: the version did not say.
  std::string schedule{};
  std::string schedule_reason{};  ///< why that is not the one asked for, or was chosen; or empty
};

/// Link 0 runs from the source to the first stage, the last one from the last stage to the sink.
struct LinkFigures {
  double transfer_p50_ms =
      0;  ///< half the link's smallest round trip + first to last byte at the receiver
  std::uint64_t bytes = 0;       ///< bytes of one request's tensors
  std::uint64_t wire_bytes = 0;  ///< bytes of its frame, by the link's codec; 0 = not known
};

/// The parts of a request's latency at its window; the three add up to the p50 that is shown.
struct TimeSplit {
  double compute_ms = 0;
  double transfer_ms = 0;
  /// The time that is left: queues, scheduling, encode and decode, and what medians leave. Negative
  /// if the medians of both parts exceed that of the whole.
  double wait_ms = 0;
};

/// The cut of a plan between one stage and the next.
struct CutRecord {
  std::string name;  ///< name of its split point
  std::int64_t position = 0;
  std::vector<TensorSpec> boundary;
  std::uint64_t boundary_bytes = 0;  ///< bytes at the trial's batch
  bool operator==(const CutRecord&) const = default;
};

/// The cuts of a plan, all of them.
struct SplitRecord {
  std::string name;                  ///< names of the split points, joined by '+'
  std::int64_t position = 0;         ///< position of the first
  std::vector<TensorSpec> boundary;  ///< boundaries of all cuts, one behind the other
  std::uint64_t boundary_bytes = 0;  ///< bytes of all cuts together
  std::vector<CutRecord> cuts;       ///< each by itself, in order: cut i lies on link i + 1
};

/// Times of the requests of one stage, in ms, in the order they were measured.
struct StageSamples {
  std::vector<double> compute_ms;
  std::vector<double> queue_ms;
  std::vector<double> receive_ms;
  std::vector<double> encode_ms;
  /// Times of requests that follow each other, while throughput was measured. They are computing,
  /// less the processor time of the stage's two other threads if these share its core. These are
  /// not row by row with those above. Empty in runs of versions that did not store it.
  std::vector<double> busy_ms{};
};

/// The distance of a pipeline's outputs from the whole model's in the plain engine, for the request
/// that was measured.
struct OutputError {
  double max = 0;  ///< largest difference, relative to the largest magnitude of the tensor
  double mean = 0;
  double top1_agreement =
      1;  ///< share of rows (samples) of the outputs [batch, classes] with the same largest class
};

/// The answers of a trial's pipeline to the samples of a data set (coordinator/evaluation).
struct AccuracyFigures {
  std::int64_t samples = 0;      ///< samples that were looked at, at least 1
  std::int64_t right = 0;        ///< samples whose label is the best class
  std::int64_t agreeing = 0;     ///< samples whose best class is the uncut model's
  std::int64_t uncut_right = 0;  ///< samples whose label is the uncut model's best class
  /// False if the plan changes no value on its way: its figures are the uncut model's.
  bool was_run = true;
  /// Shares of the samples.
  double top1() const { return static_cast<double>(right) / static_cast<double>(samples); }
  double uncut_top1() const {
    return static_cast<double>(uncut_right) / static_cast<double>(samples);
  }
};

/// Measurements of a trial in one round; its figures are made from all rounds there are.
struct TrialRound {
  int round = 0;
  /// Number of the load of the shards. Rounds with one number used the same loaded shards, at the
  /// same places in memory, so they share what those places do to their times.
  int loading = 0;
  std::vector<double> latency_ms;  ///< latency at window 1, one a request
  std::vector<double> sink_receive_ms;
  std::vector<StageSamples> stages;
  int window = 1;                   ///< window of the throughput
  std::vector<double> intervals_s;  ///< times between completions, the pipe full
};

/// A prediction of a trial, from a sweep that knows it before measuring. Deviations are standard
/// deviations as shares of the expected figures.
struct Prediction {
  double latency_ms = 0;  ///< latency by the cost model, from profiles and probes
  double samples_per_s = 0;
  int window = 0;  ///< window of the throughput; 0: not known which is enough
  /// Expected figures: the prediction, corrected by what the measured trials say of predictions. In
  /// a sweep that is not adaptive they equal the prediction.
  double expected_latency_ms = 0;
  double expected_samples_per_s = 0;
  double latency_deviation = 0;
  double throughput_deviation = 0;
  /// The share of the devices in each, 0 to 1; the rest is the network's.
  double latency_compute_share = 1;
  double throughput_compute_share = 1;
  bool doubted = false;  ///< a profile that it is made of was measured on a busy machine
  /// Latency that an adaptive sweep saw in the plan's rounds, as if measured in the average pass.
  /// Predictions are judged by it (prediction_guide.h). 0: not measured, or not adaptive.
  double seen_latency_ms = 0;
  double seen_samples_per_s = 0;
};

enum class TrialStatus {
  kOk,
  kFailed,
  kSkipped,  ///< not tried: its network could not be had
  kRefused,  ///< not measured: its accuracy is below the least one that was asked for
};

/// The network between devices as it was measured under the trial's condition, before the trial
/// itself was.
struct NetworkFigures {
  double round_trip_ms = 0;  ///< median of small packets
  /// Standard deviation; no value means that it was not measured.
  std::optional<double> round_trip_deviation_ms{};
  double forward_mbit_per_s = 0;  ///< IP headers included
  double backward_mbit_per_s = 0;
  /// Share of packets; no value means that it was not measured.
  std::optional<double> forward_loss{};
  std::optional<double> backward_loss{};
  /// Emulator that made it so: "user", "tc", "devices" (their own tc).
  std::string emulator = "user";
};

inline constexpr double kUnsettled = -1;

/// A figure of an objective: of one sample, in the objective's unit.
struct ObjectiveFigure {
  std::string name;
  double value = 0;
};

/// An objective that some trial of a run has a figure of.
struct ObjectiveRecord {
  std::string name;   ///< "energy"
  std::string title;  ///< "modelled energy"
  std::string unit;   ///< "mJ"
  bool less = true;   ///< smaller is better
};

struct TrialRecord {
  std::string
      id;  ///< "after:features.7/tcp/b1": unique in its run, and the same when the run is resumed
  /// Name of a plan that was handed over as a file; empty: it is named by its split points.
  std::string name;
  std::optional<SplitRecord> split;  ///< no value means that one device runs the whole model
  plan::Plan plan;
  std::string transport;
  std::string codec =
      "none";  ///< transport of the links between stages, the one in use; "auto" until it is chosen
  bool auto_codec = false;  ///< true if it was left to be chosen
  std::int64_t batch = 1;
  std::string condition = "none";
  /// The network as measured. No value means that it was not measured, because it was left as it
  /// is.
  std::optional<NetworkFigures> network;
  /// The prediction. No value means that nobody asked for one, or that there can be none.
  std::optional<Prediction> prediction;
  std::optional<OutputError> output_error;  ///< no value means that it is not known
  /// Accuracy on a data set; no value means that no data set was named, or that it was not tried.
  std::optional<AccuracyFigures> accuracy{};
  LatencyFigures latency;
  ThroughputFigures throughput;
  std::vector<StageFigures> stages;
  std::vector<LinkFigures> links;
  TimeSplit time_split;
  bool on_front = false;
  /// Probability to be on the front, within the bounds that the number of rounds allows
  /// (front_chance.h). kUnsettled: not known. The trial was measured since all trials were compared
  /// last, or never, and predictions say nothing of it.
  double p_front = 0;
  TrialStatus status = TrialStatus::kOk;
  std::string failure;  ///< why it failed, was skipped or refused
  /// True if it failed before it was tried, because a device has no room for it. It is not tried
  /// when the run goes on either.
  bool no_room = false;
  /// Figures of objectives, made from the other figures (statistics/objective_figures.h); not kept.
  std::vector<ObjectiveFigure> objectives{};
  std::vector<TrialRound> rounds;  ///< those measured so far, ascending; figures are from these
};

struct DeviceRecord {
  std::string name;
  std::string address;
  int threads = 1;
  std::string cpu;
  std::uint64_t memory_bytes = 0;
  std::string torch_version;
  std::uint64_t weights_sent_bytes = 0;  ///< during this run
  // Runs of earlier versions know neither.
  std::string runs_on{};  ///< device that shards run on: "cpu", "cuda:0"; empty: not known
  int cores = 0;          ///< cores that its daemon may use; 0: not known
};

/// The parts of a sweep's time, in seconds of the coordinator's clock.
struct TimeSpent {
  double total_s = 0;
  double measuring_s = 0;  ///< requests of trials on their way, those of the warm-up too
  double sentinel_s = 0;   ///< time of the reference plan
  double loading_s = 0;    ///< shards brought to devices ahead
  /// Time for opening pipelines; a shard that a device lacks is loaded with it.
  double opening_s = 0;
  double network_s = 0;               ///< changed between conditions, and measured
  std::vector<double> openings_ms{};  ///< opening time of each pipeline whose connections were new
  /// Requests of trials in a round that was measured to its end, including those of warm-up and
  /// window search. 0 in runs of versions that did not count.
  std::int64_t requests = 0;
};

/// The name of the coordinator's machine, next to those of devices.
inline constexpr const char* kThisMachine = "this machine";

/// The share of a machine's processors that others took while something was measured.
struct ForeignLoad {
  std::string machine;  ///< kThisMachine, or the names of the devices on it
  int cores = 0;
  /// Share of all cores' time that was taken by processes other than the coordinator and its
  /// daemons.
  double share = 0;
  double load = 0;     ///< load average of the last minute, with our own processes
  double seconds = 0;  ///< seconds that it was watched
};

/// Other coordinators that had pipelines on a device while something was measured.
struct Company {
  std::string device;
  int coordinators = 0;  ///< most at one time
  int pipelines = 0;     ///< most at one time
};

/// One pass of a sweep through all its trials, with the times of the reference plan and of a fixed
/// loop. Both stay the same, so they show a pass that the machine disturbed.
struct PassRecord {
  int round = 0;
  double plan_ms = 0;   ///< p50 of the reference plan's requests, before and after the pass
  double loop_ms = 0;   ///< p50 of the fixed loop
  bool repeat = false;  ///< the round was measured again, in place of a disturbed pass
  bool whole = true;    ///< false: it ended, or goes on, before all of its trials were measured
  double seconds = 0;   ///< seconds that it took; 0 in runs of versions that did not keep it
  /// Time from the end of the pass before, or from the start, to the end of this one with its
  /// reference plan. No value in runs of versions that did not store it.
  TimeSpent spent{};
  // Nothing in runs of versions that did not watch.
  std::vector<ForeignLoad> others{};  ///< loads by machine
  std::vector<Company> company{};     ///< devices that had company
};

struct RunRecord {
  std::string id;     ///< name made from the time at which it began: "20260131-101502-ab12"
  std::string tag{};  ///< the name that its user gave it; empty: none
  std::string model;
  std::string model_digest;
  std::uint64_t model_weight_bytes = 0;
  std::string started;   ///< ISO 8601, UTC
  std::string finished;  ///< empty while unfinished: such a run can be resumed
  std::string command_line;
  std::string options_json;  ///< all that `--resume` needs to go on
  std::string software_version;
  std::uint64_t seed = 0;
  std::vector<DeviceRecord> devices;
  /// Coordinator that began the run; no value means a version that did not keep it.
  std::optional<Machine> coordinator;
  std::vector<TrialRecord> trials;
  std::vector<PassRecord> passes;  ///< passes in the order they were made
  std::string note;                ///< rules applied, for the report: warm-up, repeated rounds, …
  /// Objectives that trials have figures of (statistics/objective_figures.h makes them); not kept.
  std::vector<ObjectiveRecord> objectives{};
  /// Names of the objectives that decide on_front; empty means latency and throughput.
  std::vector<std::string> axes{};
  std::string damage{};  ///< parts of it that cannot be read, and why; empty: nothing
};

}  // namespace pareto::results
