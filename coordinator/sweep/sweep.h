// A sweep: every chosen plan × transport × batch, measured in randomly interleaved rounds.
//
//   SweepOptions --plan_sweep--> trials to run --run_sweep--> RunRecord, each trial stored after each of its rounds
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

struct SweepOptions {
  /// Measured as they stand, in place of all that splits, stages, transports, codecs, batches, micro_batches, window, engine, precision and
  /// threads say; none: plans are made of those.
  std::vector<cluster::NamedPlan> plans;
  std::string splits = "modules";
  std::vector<int> stages{
      2};  ///< devices a plan spans, each number once; 1: one-device plans alone
  std::vector<std::string> transports{"tcp", "grpc"};  ///< or mixes: parse_transport_mix
  std::vector<std::string> codecs{"none"};  ///< of the links between stages; "auto": CodecChooser's
  double codec_error = 0;                   ///< what "auto" may lose, as CodecError::mean
  std::vector<std::int64_t> batches{1};
  std::vector<std::int64_t> micro_batches{0};  ///< of batches larger than that; 0: the whole batch
  int window = 0;                              ///< for throughput; 0 = auto
  int requests = 12;                           ///< measured a round and trial, for latency
  int rounds = 3;
  std::uint64_t seed = 1;
  std::string engine = "auto";
  std::string precision = "fp32";
  int threads = 0;                                          ///< 0: as each device is set
  double max_error = 0;                                     ///< as Plan's
  std::int64_t timeout_ms = load::kRequestTimeout.count();  ///< of a request, as TrialMeter has it
  /// Measure only what may be on the front (coordinator/sweep/race_schedule.h), for so long at most; trials come with predictions.
  bool adaptive = false;
  double budget_s = 300;
  /// Trials come with predictions, which adaptive ones do anyway.
  bool predict = false;
  bool no_checksum = false;  ///< as DeploymentOptions::payload_checksum, the other way round
  /// Of the network between devices: "none", or a file of core/plan/condition.h, which is called by its name without folder and ending.
  std::vector<std::string> conditions{"none"};
};

/// JSON and back: what a run keeps so that it can be resumed.
std::string to_json(const SweepOptions& options);
Expected<SweepOptions> sweep_options_from_json(const std::string& json);

/// The trials of a sweep before they are measured (`--dry-run`): plan, split, ids; one-device plans included.
Expected<std::vector<results::TrialRecord>> plan_sweep(const model::Model& model,
                                                       const cluster::Cluster& cluster,
                                                       const SweepOptions& options);

struct SweepProgress {
  std::size_t done =
      0;  ///< units of work (a round of a trial); of an adaptive sweep seconds of measuring
  std::size_t total = 0;  ///< of the phase: a round that is measured again counts from 0
  /// Seconds of measuring that an adaptive sweep may still take; it may end sooner. None: an
  /// exhaustive one.
  std::optional<double> most_left_s{};
  std::string phase;  ///< "round 2/3", "12 of 900 plans measured"
  std::string now;    ///< "round 2/3 after:features.7 tcp"
  std::size_t trials = 0;
  std::size_t measured_trials = 0;  ///< with a round at least
  std::size_t failed_trials = 0;
  std::size_t skipped_trials = 0;
  /// Of each network that could not be had so far, why its plans are not measured.
  std::vector<std::string> skipped;
  std::string condition;  ///< of the trial in hand; empty before the first
};

/// A new run of all those trials, nothing measured yet: to be given to ResultStore::begin_run and then to run_sweep.
Expected<results::RunRecord> make_run(const model::Model& model, const cluster::Cluster& cluster,
                                      const SweepOptions& options, const std::string& command_line);
/// Gives a run loaded from the store the trials that it still lacks; those that have some of their rounds, failed ones too, or a
/// prediction keep them, and those that a device has no room for stay failed. To be given to run_sweep.
/// Fails: kInvalidArgument (the model or a device is another one).
Expected<> continue_run(const model::Model& model, const cluster::Cluster& cluster,
                        const SweepOptions& options, results::RunRecord& stored);

/// Measures what `run.trials` lack of their rounds (coordinator/sweep/sweep_schedule.h), storing a trial after each of them, or when it
/// fails; rounds in which the machine was disturbed are measured again (coordinator/sweep/sentinel.h). The store has begun the run.
/// `stop` set (Ctrl-C) ends it after the unit in hand. A failed trial is recorded and the sweep goes on; trials on a device that does
/// not answer any more fail at once, and those of a network that could not be had are skipped, all of them when the first is. Fills p_front,
/// on_front, passes, note and what devices were sent. `run.finished` stays empty where the run is to be resumed: it was stopped, a device was
/// lost, or trials were skipped.
/// Fails: where the store fails (kExhausted: disk full), or the model makes no example.
Expected<> run_sweep(const model::Model& model, cluster::Cluster& cluster,
                     const SweepOptions& options, results::RunRecord& run,
                     results::ResultStore& store, const std::atomic<bool>& stop,
                     const std::function<void(const SweepProgress&)>& on_progress);

}  // namespace pareto::sweep
