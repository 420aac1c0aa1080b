// A sweep: every chosen plan × transport × batch, measured in randomly interleaved rounds.
//
//   SweepOptions --plan_sweep--> trials to run --run_sweep--> RunRecord, each trial stored after
//                                                             each of its rounds
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/network.h"
#include "coordinator/cluster/plan_file.h"
#include "coordinator/load/lost_request.h"
#include "coordinator/results/record.h"
#include "coordinator/results/store.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"

namespace pareto::sweep {

/// The data set that plans' accuracy is measured on.
struct AccuracyOptions {
  std::string data{};  ///< name for data::open_data_set(); empty: accuracy is not measured
  std::string part = "test";
  std::string preprocessing{};  ///< the file; empty: the usual one
  std::int64_t limit = 0;       ///< samples that are looked at, evenly spaced; 0: all
  /// The least share of the uncut model's accuracy; plans below it are not measured. 0: any.
  double least_share = 0;
};

struct SweepOptions {
  /// Plans that are measured as they stand, in place of all that splits, stages, transports,
  /// codecs, batches, micro_batches, window and both kinds of settings say. If there are no such
  /// plans, plans are made of those.
  std::vector<cluster::NamedPlan> plans;
  std::string splits = "modules";
  std::vector<int> stages{
      2};  ///< devices a plan spans, each number once; 1: one-device plans alone
  std::vector<std::string> transports{"tcp", "grpc"};  ///< or mixes: parse_transport_mix
  std::vector<std::string> codecs{"none"};  ///< on links between stages; "auto": CodecChooser's
  double codec_error = 0;                   ///< what "auto" may lose, as CodecError::mean
  std::vector<std::int64_t> batches{1};
  std::vector<std::int64_t> micro_batches{0};  ///< parts of larger batches; 0: the whole batch
  int window = 0;                              ///< for throughput; 0 = auto
  int requests = 12;                           ///< measured a round and trial, for latency
  int rounds = 3;
  std::uint64_t seed = 1;
  plan::StageSettings settings{};  ///< settings of all stages
  /// Other settings of all stages: each plan is a trial by each of them too.
  std::vector<plan::StageSettings> more_settings{};
  std::int64_t timeout_ms = load::kRequestTimeout.count();  ///< the longest that a request may take
  /// True if only what may be on the front is measured, for at most budget_s
  /// (coordinator/sweep/race_schedule.h). Trials come with predictions then.
  bool adaptive = false;
  double budget_s = 300;
  /// True if trials of a sweep that is not adaptive come with predictions too.
  bool predict = false;
  /// True if steps of training are measured in place of requests: such a sweep is exhaustive.
  bool train = false;
  std::string loss = "cross-entropy";  ///< loss of a sweep that trains: a name, or a file
  AccuracyOptions accuracy{};
  bool no_checksum = false;  ///< the opposite of DeploymentOptions::payload_checksum
  /// Conditions of the network between devices: "none", or a file of core/plan/condition.h, which
  /// is named without its folder and ending.
  std::vector<std::string> conditions{"none"};

  /// Returns the settings that each plan is measured by: `settings`, then the others.
  std::vector<plan::StageSettings> all_settings() const;
};

/// Writes options as the JSON that a run keeps so that it can be resumed, and reads them again.
std::string to_json(const SweepOptions& options);
Expected<SweepOptions> sweep_options_from_json(const std::string& json);

/// Returns the trials of a sweep before they are measured (`--dry-run`): plan, split, ids. Plans of
/// one device are among them.
Expected<std::vector<results::TrialRecord>> plan_sweep(const model::Model& model,
                                                       const cluster::Cluster& cluster,
                                                       const SweepOptions& options);

struct SweepProgress {
  std::size_t done =
      0;  ///< units of work (a round of a trial); of an adaptive sweep seconds of measuring
  std::size_t total = 0;  ///< units of the phase: a round that is measured again counts from 0
  /// Seconds of measuring that an adaptive sweep may still take; it may end sooner. No value means
  /// an exhaustive one.
  std::optional<double> most_left_s{};
  std::string phase;  ///< "round 2/3", "round 2/3, again", "12 of 900 plans measured"
  std::string now;    ///< "round 2/3 after:features.7 tcp"
  std::size_t trials = 0;
  std::size_t measured_trials = 0;  ///< with a round at least
  std::size_t failed_trials = 0;
  std::size_t skipped_trials = 0;
  /// A line for each network that could not be had so far: why its plans are not measured.
  std::vector<std::string> skipped;
  std::string condition;  ///< the trial's in hand; empty before the first
};

/// Makes a new run of all those trials, nothing measured yet: for ResultStore::begin_run and then
/// run_sweep().
Expected<results::RunRecord> make_run(const model::Model& model, const cluster::Cluster& cluster,
                                      const SweepOptions& options, const std::string& command_line);
/// Gives a run loaded from the store the trials that it still lacks, for run_sweep(). Trials that
/// have rounds or a prediction keep them, failed ones too. Those that a device has no room for stay
/// failed.
/// Fails: kInvalidArgument (the model or a device is another one).
Expected<> continue_run(const model::Model& model, const cluster::Cluster& cluster,
                        const SweepOptions& options, results::RunRecord& stored);

/// Measures the rounds that `run.trials` lack (coordinator/sweep/sweep_schedule.h). A trial is
/// stored after each of its rounds, or when it fails. Rounds in which the machine was disturbed are
/// measured again (coordinator/sweep/reference_reading.h). The store has begun the run. `stop` set
/// (Ctrl-C) ends the sweep after the unit in hand.
///
/// | if …                                 | then                                             |
/// |--------------------------------------|--------------------------------------------------|
/// | a trial fails                        | it is recorded, and the sweep goes on            |
/// | a device does not answer any more    | its other trials fail at once                    |
/// | a network cannot be had              | its trials are skipped when the first one is     |
/// | it was stopped, or one of those two  | `run.finished` stays empty: it can be resumed    |
///
/// `loss`: the opened loss of a sweep that trains, else null. Its trials are trained with plain SGD
/// and a momentum of 0.9; outputs are not compared.
///
/// Fills p_front, on_front, passes, note and what devices were sent. Fails: as the store
/// (kExhausted: disk full), and as Workload::example.
Expected<> run_sweep(const model::Model& model, cluster::Cluster& cluster,
                     const SweepOptions& options, results::RunRecord& run,
                     results::ResultStore& store, const std::atomic<bool>& stop,
                     const std::function<void(const SweepProgress&)>& on_progress,
                     const model::Model* loss = nullptr);

}  // namespace pareto::sweep
