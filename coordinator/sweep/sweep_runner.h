// The rounds of a sweep over anything that can be deployed; run_sweep gives it the model.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/load/deployment_cache.h"
#include "coordinator/load/foreign_load_meter.h"
#include "coordinator/results/record.h"
#include "coordinator/results/store.h"
#include "coordinator/sweep/sentinel.h"
#include "coordinator/sweep/sweep.h"
#include "coordinator/sweep/sweep_schedule.h"
#include "coordinator/sweep/trial_meter.h"
#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::sweep {

/// Threads: one owner.
class SweepRunner {
 public:
  /// How long measuring may take: a unit's slice is this much divided by the number of units, within bounds.
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
    const Clock* clock = nullptr;  ///< of passes and budgets; null: the machine's
  };

  SweepRunner(Environment environment, const SweepOptions& options, results::RunRecord& run);
  /// As run_sweep.
  Expected<> run();

 private:
  struct Request {
    Value body;
    std::optional<std::vector<Value>> expected;  ///< outputs, where they are known
  };
  /// A trial of the run, by its place there.
  struct Pending {
    results::TrialRecord* trial = nullptr;
    TrialMeter meter;
    bool left = false;    ///< it is still to be measured
    bool failed = false;  ///< or skipped
    bool tried = false;
    results::TrialStatus earlier_status =
        results::TrialStatus::kOk;  ///< of the part of the run before this one
    std::string earlier_failure{};
    std::vector<std::string> shards{};  ///< handles of those that its last round ran
    int loading = -1;                   ///< as TrialRound's, of that round
  };

  void find_pending();
  void preload(const std::vector<std::size_t>& trials);
  void read_devices();
  Expected<> run_pass(const Pass& pass);
  /// Its trials; the network changes as seldom as it can.
  std::vector<std::size_t> in_random_order(const Pass& pass) const;
  Expected<> run_unit(std::size_t index, const Pass& pass);
  /// Into the record of the pass under way, until now.
  void count_seconds();
  /// In passes, until the last unit.
  double seconds_spent() const;
  bool budget_is_spent() const;
  /// One round of a trial, in place of what it has of that round. Asks its devices whether they are there where it fails.
  Expected<> measure(std::size_t index, int round);
  /// Of the round that is measured next, through a deployment that is open.
  static int loading_of(Pending& pending, const cluster::Deployment& deployment);
  /// Gives the network between devices the trial's condition. Where it fails the condition is among those refused.
  Expected<> apply_condition(results::TrialRecord& trial);
  SentinelReading read_sentinel();
  void record_failure(Pending& pending, const Error& error);
  /// Trials that failed in an earlier part of the run and were not tried again have failed. Whether there are any.
  bool restore_failures();
  /// What a trial has of a round that is measured again and where it failed: others have another state of the machine under that number.
  void keep_apart(results::TrialRecord& trial, int round);
  /// All trials that are left of a condition that could not be applied.
  Expected<> skip_condition(const std::string& condition, const Error& error);
  /// Asks the devices of a trial that has just failed.
  void look_for_lost_devices(const plan::Plan& plan);
  /// Why the first device of the plan that is lost is: it does not answer, or has ended this sweep's session. None is lost: null.
  const Error* loss_of_device(const plan::Plan& plan) const;
  bool anything_left() const;
  bool stopped() const;
  /// Of requests.
  std::chrono::milliseconds timeout() const {
    return std::chrono::milliseconds(options_.timeout_ms);
  }
  std::size_t measured_trials() const;
  /// Returns the phase that progress names now; of a pass without one, how many plans are measured.
  std::string phase_of(const Pass& pass) const;
  /// `now`: what is done.
  void report(std::string now);
  /// Calls `work`, and adds what that took.
  template <typename Work>
  auto timed(double results::TimeSpent::*part, Work work);
  Expected<load::DeploymentCache::Lease> open(std::size_t key, const plan::Plan& plan,
                                              const std::string& condition);
  const Request& request_of(const results::TrialRecord& trial) const;
  /// Stores where the run stands; `finished`: nothing is left to measure.
  Expected<> checkpoint(bool finished);

  Environment environment_;
  const SweepOptions options_;
  results::RunRecord& run_;
  cluster::ShardPool pool_;
  cluster::CodecChooser codecs_;
  load::DeploymentCache deployments_;
  std::vector<Pending> pending_;
  std::map<std::int64_t, Request> requests_;  ///< by batch
  std::map<std::string, Error> lost_devices_;
  std::set<std::string> refused_;  ///< conditions that could not be applied, not once
  std::set<std::string> held_;     ///< those that could
  std::vector<std::uint64_t>
      sent_before_;  ///< by device: what earlier parts of the run sent, less what its client had sent
  const results::TrialRecord* sentinel_ = nullptr;
  std::optional<SentinelReading> last_reading_;  ///< of the end of the pass before
  UnitBudget budget_;
  std::unique_ptr<SweepSchedule> schedule_;
  load::ForeignLoadMeter others_;
  SteadyClock machine_clock_;
  TimePoint pass_began_{};
  TimePoint counted_until_{};
  results::TimeSpent spent_;  ///< since then
  SweepProgress progress_;
};

}  // namespace pareto::sweep
