// Bench for measuring trials: devices and their network, pipelines that are kept open, and
// requests.
//
//   condition ──▶ deployment ──TrialMeter──▶ a round ──▶ outputs checked ──▶ the trial's figures
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/load/deployment_cache.h"
#include "coordinator/results/record.h"
#include "coordinator/sweep/condition_gate.h"
#include "coordinator/sweep/lost_devices.h"
#include "coordinator/sweep/pass_clock.h"
#include "coordinator/sweep/sweep.h"
#include "coordinator/sweep/training_meter.h"
#include "coordinator/sweep/trial_meter.h"
#include "core/base/error.h"
#include "core/tensor/value.h"

namespace pareto::sweep {

class AccuracyCheck;  // coordinator/sweep/accuracy_check.h

/// Trials are named by their places in the run.
///
/// Threads: one owner. Its constructor's arguments outlive it.
class TrialBench {
 public:
  /// The devices, and how plans come to them.
  struct Devices {
    cluster::Workload& workload;
    cluster::Cluster& cluster;
    cluster::TransportSet::Factory make_transport;
    cluster::DeploymentOptions deployment;
    TrainingMeter* training = nullptr;  ///< measures steps of training; null: requests
    AccuracyCheck* accuracy = nullptr;  ///< null: accuracy is not measured
    /// Called with what is done of a trial before it is measured. Threads: one of the bench's own.
    std::function<void(const std::string&)> say{};
  };
  TrialBench(Devices devices, const SweepOptions& options, results::RunRecord& run,
             PassClock& clock);

  /// Makes a request for each batch, and a meter for each trial. Call it first. Fails: as
  /// Workload::example and Workload::expected.
  Expected<> prepare();
  /// Loads the shards of trials. `progress`: how many of how many are loaded. Devices that do not
  /// answer are given up.
  void preload(const std::vector<std::size_t>& places, const std::atomic<bool>& stop,
               const std::function<void(std::size_t, std::size_t)>& progress);
  /// Measures one round of a trial, in place of what the trial has of that round. Before the first
  /// one its accuracy is measured, if that is wanted; a trial that is refused gets no round. If it
  /// fails, the devices of the trial are asked whether they are still there. Fails: kUnavailable (a
  /// device is lost), kCorrupt (outputs are not the whole model's), and as ConditionGate::enter,
  /// Deployment::open, AccuracyCheck::judge and TrialMeter::measure.
  Expected<> measure(std::size_t place, int round, const UnitBudget& budget);

  /// Opens a pipeline, or returns the one that is open. `key`: a trial's place, or a number that is
  /// none. Fails: as Deployment::open.
  Expected<load::DeploymentCache::Lease> open(std::size_t key, const plan::Plan& plan,
                                              const std::string& condition);
  /// Closes the pipeline of a plan that has just failed with that code. Asks the plan's devices
  /// whether they are still there, and gives up those that are not.
  void give_up(std::size_t key, const plan::Plan& plan, ErrorCode code);
  /// Returns the request that a trial is measured with.
  const Value& request_of(const results::TrialRecord& trial) const {
    return requests_.at(trial.batch).body;
  }
  ConditionGate& conditions() { return conditions_; }
  const ConditionGate& conditions() const { return conditions_; }
  const LostDevices& lost() const { return lost_; }

 private:
  struct Request {
    Value body;
    std::optional<std::vector<Value>> expected;  ///< outputs; no value: not known
  };
  /// A trial's meter, and the shards that its last round ran.
  struct Place {
    TrialMeter meter;
    std::vector<std::string> shards{};  ///< handles
    int loading = -1;                   ///< TrialRound::loading of that round
  };

  /// Gives up those of the devices that are lost, if `code` may mean that one is: nothing waits for
  /// them again.
  void give_up_lost(const std::vector<std::string>& devices, ErrorCode code);
  Expected<> measure_now(std::size_t place, int round, const UnitBudget& budget);
  /// Measures a round of requests, or of steps.
  Expected<MeasuredRound> measure_round(std::size_t place, int round,
                                        const load::DeploymentCache::Lease& lease,
                                        const UnitBudget& budget);
  /// Measures the accuracy of a trial over the network as it is by itself, which may be faster.
  Expected<> judge_at_rest(std::size_t place);
  Expected<> judge(results::TrialRecord& trial, cluster::Deployment& deployment);
  Expected<> enter_condition(results::TrialRecord& trial);
  /// Returns TrialRound::loading of the round that a trial is measured in, through a deployment.
  int loading_of(std::size_t place, const cluster::Deployment& deployment);

  Devices devices_;
  const SweepOptions options_;
  results::RunRecord& run_;
  PassClock& clock_;
  cluster::ShardPool pool_;
  cluster::CodecChooser codecs_;
  load::DeploymentCache deployments_;
  ConditionGate conditions_;
  LostDevices lost_;
  std::vector<Place> places_;
  std::map<std::int64_t, Request> requests_;  ///< one for each batch
};

}  // namespace pareto::sweep
