// What a sweep leaves behind: a run, its devices, its trials and their samples, as plain data. Written by coordinator/sweep, kept by
// coordinator/results, shown by client/report. The JSON of `sweep --json` has these fields (client/report/json_writer.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/machine.h"
#include "core/plan/plan.h"
#include "core/tensor/value_spec.h"

namespace pareto::results {

/// Figures no further apart than this share count as the same: on a front nobody is beaten by less, and in their order they are equals.
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
  Interval ci95_ms;  ///< of the p50
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
  double compute_p50_ms = 0;  ///< at the latency window
  double queue_p50_ms = 0;
  double receive_p50_ms = 0;
  double encode_p50_ms = 0;
  /// That the shard takes of the daemon, with all that other shards have in common with it.
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t weight_bytes = 0;
  std::string precision{};  ///< that the engine computes in; empty: of a version that did not say
  std::string precision_reason{};  ///< why that is not the one asked for; empty: it is
};

/// Link 0 runs from the source to the first stage, the last one from the last stage to the sink.
struct LinkFigures {
  double transfer_p50_ms =
      0;  ///< half the link's smallest round trip + first to last byte at the receiver
  std::uint64_t bytes = 0;       ///< of one request's tensors
  std::uint64_t wire_bytes = 0;  ///< of its frame, by the link's codec; 0 = not known
};

/// Where the latency of a request at its window went; the three add up to the p50 that is shown.
struct TimeSplit {
  double compute_ms = 0;
  double transfer_ms = 0;
  /// What is left: queues, scheduling, encode and decode, and what medians leave. Negative if the
  /// medians of both parts exceed that of the whole.
  double wait_ms = 0;
};

/// Where a plan cuts between one stage and the next.
struct CutRecord {
  std::string name;  ///< of its split point
  std::int64_t position = 0;
  std::vector<TensorSpec> boundary;
  std::uint64_t boundary_bytes = 0;  ///< at the trial's batch
  bool operator==(const CutRecord&) const = default;
};

/// All cuts of a plan.
struct SplitRecord {
  std::string name;                  ///< of the split points, joined by '+'
  std::int64_t position = 0;         ///< of the first
  std::vector<TensorSpec> boundary;  ///< of all cuts, one behind the other
  std::uint64_t boundary_bytes = 0;  ///< of all cuts together
  std::vector<CutRecord> cuts;       ///< each by itself, in order: cut i lies on link i + 1
};

/// What the requests of one stage took, in ms, in the order they were measured.
struct StageSamples {
  std::vector<double> compute_ms;
  std::vector<double> queue_ms;
  std::vector<double> receive_ms;
  std::vector<double> encode_ms;
  /// Of requests that follow each other, while throughput was measured: computing, less the processor time of its two other threads where
  /// these had to share a core with it. Not row by row with those above; empty in runs of versions that did not keep it.
  std::vector<double> busy_ms{};
};

/// How far a pipeline's outputs are from the whole model's in the plain engine, for the request that was measured.
struct OutputError {
  double max = 0;  ///< largest difference, relative to the largest magnitude of the tensor
  double mean = 0;
  double top1_agreement =
      1;  ///< share of rows (samples) of the outputs [batch, classes] with the same largest class
};

/// What one round measured of a trial; its figures are made from all rounds there are.
struct TrialRound {
  int round = 0;
  /// The same number where shards were still those that an earlier round had loaded: what that loading made of them, where in memory they
  /// came to lie, is in all of these rounds.
  int loading = 0;
  std::vector<double> latency_ms;  ///< at window 1, one a request
  std::vector<double> sink_receive_ms;
  std::vector<StageSamples> stages;
  int window = 1;                   ///< of the throughput
  std::vector<double> intervals_s;  ///< between completions, the pipe full
};

/// What a sweep that predicts knows of a trial without measuring it. Deviations are standard deviations as shares of the expected figures.
struct Prediction {
  double latency_ms = 0;  ///< by the cost model, from profiles and probes
  double samples_per_s = 0;
  int window = 0;  ///< of the throughput; 0: not known which is enough
  /// The same after what the trials that were measured, this one among them, say of predictions; of a sweep that is not adaptive, the same.
  double expected_latency_ms = 0;
  double expected_samples_per_s = 0;
  double latency_deviation = 0;
  double throughput_deviation = 0;
  /// How much of each is the devices' doing, 0 to 1; the rest is the network's.
  double latency_compute_share = 1;
  double throughput_compute_share = 1;
};

enum class TrialStatus {
  kOk,
  kFailed,
  kSkipped,  ///< not tried: its network could not be had
};

/// What the network between devices was measured to be like under the trial's condition, before it was measured itself.
struct NetworkFigures {
  double round_trip_ms = 0;                         ///< median of small packets
  std::optional<double> round_trip_deviation_ms{};  ///< standard deviation; none: not measured
  double forward_mbit_per_s = 0;                    ///< IP headers included
  double backward_mbit_per_s = 0;
  std::optional<double> forward_loss{};  ///< share of packets; none: not measured
  std::optional<double> backward_loss{};
  std::string emulator = "user";  ///< what made it so: "user", "tc", "devices" (their own tc)
};

inline constexpr double kUnsettled = -1;

struct TrialRecord {
  std::string
      id;  ///< "after:features.7/tcp/b1": unique in its run, and the same when the run is resumed
  std::string
      name;  ///< of a plan that was handed over as a file; empty: it is called by its split points
  std::optional<SplitRecord> split;  ///< none: one device runs the whole model
  plan::Plan plan;
  std::string transport;
  std::string codec =
      "none";  ///< of the links between stages, the one in use; "auto" until it is chosen
  bool auto_codec = false;  ///< whether it was left to be chosen
  std::int64_t batch = 1;
  std::string condition = "none";
  std::optional<NetworkFigures> network;    ///< none: not measured, it was left as it is
  std::optional<Prediction> prediction;     ///< none: nobody asked for one, or there can be none
  std::optional<OutputError> output_error;  ///< none: not known
  LatencyFigures latency;
  ThroughputFigures throughput;
  std::vector<StageFigures> stages;
  std::vector<LinkFigures> links;
  TimeSplit time_split;
  bool on_front = false;
  /// Probability to be on the front, within the bounds that so many rounds allow (front_chance.h).
  /// kUnsettled: measured since all trials were compared last.
  double p_front = 0;
  TrialStatus status = TrialStatus::kOk;
  std::string failure;  ///< why it failed or was skipped
  /// It failed before it was tried: a device was seen to have no room for it. It is not tried either when the run goes on.
  bool no_room = false;
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
  std::string runs_on{};  ///< what shards run on: "cpu", "cuda:0"; empty: not known
  int cores = 0;          ///< that its daemon may use; 0: not known
};

/// Where the time of a sweep went, in seconds of the coordinator's clock.
struct TimeSpent {
  double total_s = 0;
  double measuring_s = 0;  ///< requests of trials on their way, those of the warm-up too
  double sentinel_s = 0;   ///< the same of the sentinel
  double loading_s = 0;    ///< shards brought to devices ahead
  double opening_s = 0;    ///< of pipelines; a shard that a device lacks is loaded with it
  double network_s = 0;    ///< changed between conditions, and measured
  std::vector<double> openings_ms{};  ///< of each pipeline whose connections were new
  /// Of trials, those of warm-up and window search too, where the round was measured to its end; 0 in runs of versions that did not count.
  std::int64_t requests = 0;
};

/// The name of the coordinator's machine, next to those of devices.
inline constexpr const char* kThisMachine = "this machine";

/// The share of a machine's processors that others took while something was measured.
struct ForeignLoad {
  std::string machine;  ///< kThisMachine, or the names of the devices on it
  int cores = 0;
  double share =
      0;            ///< of all cores' time, by processes other than the coordinator and its daemons
  double load = 0;  ///< load average of the last minute, with our own processes
  double seconds = 0;  ///< that it was watched
};

/// Other coordinators that had pipelines on a device while something was measured.
struct Company {
  std::string device;
  int coordinators = 0;  ///< most at one time
  int pipelines = 0;     ///< most at one time
};

/// One pass of a sweep through all its trials, and what the sentinel (a plan and a loop that stay the same) took meanwhile: how a
/// pass that the machine disturbed is known.
struct PassRecord {
  int round = 0;
  double plan_ms = 0;   ///< p50 of the sentinel plan's requests, before and after the pass
  double loop_ms = 0;   ///< p50 of the sentinel loop
  bool repeat = false;  ///< the round was measured again, in place of a disturbed pass
  bool whole = true;    ///< false: it ended, or goes on, before all of its trials were measured
  double seconds = 0;   ///< that it took; 0 in runs of versions that did not keep it
  /// From the end of the pass before, or from the start, to its own end with its sentinel; nothing in runs of versions that did not keep it.
  TimeSpent spent{};
  // Nothing in runs of versions that did not watch.
  std::vector<ForeignLoad> others{};  ///< by machine
  std::vector<Company> company{};     ///< devices that had company
};

struct RunRecord {
  std::string id;     ///< from the time at which it began: "20260131-101502-ab12"
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
  std::optional<Machine>
      coordinator;  ///< that began the run; none: of a version that did not keep it
  std::vector<TrialRecord> trials;
  std::vector<PassRecord> passes;  ///< in the order they were made
  std::string note;                ///< rules applied, for the report: warm-up, repeated rounds, …
  std::string damage{};            ///< what of it cannot be read, and why; empty: nothing
};

}  // namespace pareto::results
