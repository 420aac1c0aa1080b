// The rounds of a sweep over anything that can be deployed; run_sweep gives it the model.
//
//   SweepSchedule ──pass──▶ SweepRunner ──trial──▶ TrialBench ──▶ TrialRecord ──▶ ResultStore
//                          TrialQueue: which trials are left; PassClock: how much time is
//                          ReferencePlan, ForeignLoadMeter: what the machine did meanwhile
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/load/foreign_load_meter.h"
#include "coordinator/results/record.h"
#include "coordinator/results/store.h"
#include "coordinator/sweep/pass_clock.h"
#include "coordinator/sweep/reference_plan.h"
#include "coordinator/sweep/sweep.h"
#include "coordinator/sweep/sweep_schedule.h"
#include "coordinator/sweep/trial_bench.h"
#include "coordinator/sweep/trial_queue.h"
#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::sweep {

/// The loop: passes, and the trials of each pass.
///
/// Threads: one owner.
class SweepRunner {
 public:
  /// Time for measuring: a unit's slice is this divided by the number of units, in bounds.
  struct Pace {
    std::chrono::duration<double> measuring{55};
    std::chrono::duration<double> shortest_slice{0.3};
    std::chrono::duration<double> longest_slice{3};
  };
  struct Environment {
    cluster::Workload& workload;
    cluster::Cluster& cluster;
    results::ResultStore& store;
    const std::atomic<bool>& stop;
    std::function<void(const SweepProgress&)> on_progress;
    cluster::TransportSet::Factory make_transport;
    cluster::DeploymentOptions deployment;
    Pace pace;
    const Clock* clock = nullptr;       ///< the clock of passes and budgets; null: the machine's
    AccuracyCheck* accuracy = nullptr;  ///< null: accuracy is not measured
    TrainingMeter* training = nullptr;  ///< measures steps of training; null: requests
  };

  SweepRunner(Environment environment, const SweepOptions& options, results::RunRecord& run);
  /// Like run_sweep(), whose parts are given. Call it once.
  Expected<> run();

 private:
  Expected<> run_passes();
  Expected<> run_pass(const Pass& pass);
  /// Measures one trial of a pass, unless it is out, and stores it.
  Expected<> run_unit(std::size_t place, const Pass& pass);
  Expected<> record_failure(std::size_t place, const Error& error);
  void preload(const std::vector<std::size_t>& places);
  ReferenceReading read_reference();
  /// Returns whether somebody asked to stop, or nothing is left to measure.
  bool stopped() const;
  /// Returns what progress says of a pass: its phase or, without one, how many plans are measured.
  std::string phase_of(const Pass& pass) const;
  /// Reports progress. `now`: what is done.
  void report(std::string now);
  /// Stores where the run stands. `finished`: nothing is left to measure.
  Expected<> checkpoint(bool finished);

  Environment environment_;
  const SweepOptions options_;
  results::RunRecord& run_;
  SteadyClock machine_clock_;
  std::unique_ptr<SweepSchedule> schedule_;
  PassClock clock_;
  TrialQueue queue_;
  TrialBench bench_;
  ReferencePlan reference_;
  load::ForeignLoadMeter others_;
  UnitBudget budget_;
  std::optional<ReferenceReading> last_reading_;  ///< taken at the end of the pass before
  /// The bytes of weights that earlier parts of the run sent, less those that the device's client
  /// had sent before this part; by device.
  std::vector<std::uint64_t> sent_before_;
  SweepProgress progress_;
};

}  // namespace pareto::sweep
