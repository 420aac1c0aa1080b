#include "coordinator/sweep/trial_bench.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "coordinator/load/micro_batch.h"
#include "coordinator/load/output_error.h"
#include "coordinator/load/preload.h"
#include "coordinator/sweep/accuracy_check.h"
#include "coordinator/sweep/trial_figures.h"
#include "coordinator/sweep/trial_rounds.h"

namespace pareto::sweep {
namespace {

/// The condition that leaves the network as it is.
constexpr std::string_view kAsItIs = "none";

cluster::DeploymentOptions with_chooser(cluster::DeploymentOptions options,
                                        cluster::CodecChooser& codecs) {
  options.codecs = &codecs;
  return options;
}

}  // namespace

TrialBench::TrialBench(Devices devices, const SweepOptions& options, results::RunRecord& run,
                       PassClock& clock)
    : devices_(std::move(devices)),
      options_(options),
      run_(run),
      clock_(clock),
      pool_(devices_.workload),
      codecs_(options.codec_error),
      deployments_(devices_.cluster, pool_, devices_.make_transport,
                   with_chooser(devices_.deployment, codecs_)),
      conditions_(devices_.cluster.network()),
      lost_(devices_.cluster) {}

Expected<> TrialBench::prepare() {
  for (std::size_t i = 0; i < run_.trials.size(); ++i) {
    const results::TrialRecord& trial = run_.trials[i];
    const int window = trial.rounds.empty() ? trial.plan.window : trial.rounds.front().window;
    TrialMeter meter(window, run_.seed + i, load::micro_batch_sizes(trial.plan),
                     std::chrono::milliseconds(options_.timeout_ms));
    // A search takes longer than all the rest of a round. An exhaustive sweep searches all the
    // same: it also shows how good predictions are.
    if (options_.adaptive && trial.prediction) meter.foresee_window(trial.prediction->window);
    places_.push_back({std::move(meter)});
    if (requests_.contains(trial.batch)) continue;
    PARETO_ASSIGN(std::vector<Value> inputs, devices_.workload.example(trial.batch, options_.seed));
    PARETO_ASSIGN(auto expected, devices_.workload.expected(trial.batch, options_.seed));
    requests_[trial.batch] = {Tuple{std::move(inputs)}, std::move(expected)};
  }
  return {};
}

void TrialBench::preload(const std::vector<std::size_t>& places, const std::atomic<bool>& stop,
                         const std::function<void(std::size_t, std::size_t)>& progress) {
  // A shard that trains is its pipeline's own.
  if (devices_.training != nullptr) return;
  std::vector<plan::Plan> plans;
  for (const std::size_t place : places) plans.push_back(run_.trials[place].plan);
  const auto errors = clock_.timed(&results::TimeSpent::loading_s, [&] {
    return load::preload_shards(plans, devices_.cluster, pool_, stop, progress);
  });
  for (const auto& [device, error] : errors) give_up_lost({device}, error.code);
}

void TrialBench::give_up(std::size_t key, const plan::Plan& plan, ErrorCode code) {
  give_up_lost(plan.device_names(), code);
  deployments_.drop(key);
}

void TrialBench::give_up_lost(const std::vector<std::string>& devices, ErrorCode code) {
  for (const std::string& device : lost_.look_for(devices, code)) deployments_.abandon(device);
}

Expected<> TrialBench::measure(std::size_t place, int round, const UnitBudget& budget) {
  const plan::Plan& plan = run_.trials[place].plan;
  if (const Error* loss = lost_.loss_of(plan)) {
    return fail(ErrorCode::kUnavailable, "a device was lost: {}", loss->message);
  }
  auto done = measure_now(place, round, budget);
  if (done) return done;
  give_up(place, plan, done.error().code);
  // Links say that they broke; the device that is gone is why.
  if (const Error* loss = lost_.loss_of(plan)) {
    return fail(ErrorCode::kUnavailable, "a device was lost: {}; seen as: {}", loss->message,
                done.error().message);
  }
  return done;
}

Expected<> TrialBench::measure_now(std::size_t place, int round, const UnitBudget& budget) {
  results::TrialRecord& trial = run_.trials[place];
  PARETO_TRY(judge_at_rest(place));
  if (trial.status == results::TrialStatus::kRefused) return {};
  PARETO_TRY(enter_condition(trial));
  PARETO_ASSIGN(const load::DeploymentCache::Lease lease,
                with_context(open(place, trial.plan, trial.condition), "deploying"));
  // What was chosen when it was first deployed holds for all its rounds.
  trial.plan.codecs = lease.deployment->codecs();
  trial.codec = cluster::codec_text(trial.plan.codecs);
  PARETO_TRY(judge(trial, *lease.deployment));
  if (trial.status == results::TrialStatus::kRefused) return {};
  PARETO_ASSIGN(MeasuredRound measured, clock_.timed(&results::TimeSpent::measuring_s, [&] {
    return measure_round(place, round, lease, budget);
  }));
  clock_.spent().requests += measured.requests;
  PARETO_TRY(conditions_.check());
  measured.round.loading = loading_of(place, *lease.deployment);
  const Request& request = requests_.at(trial.batch);
  const auto* outputs = measured.output.get_if<Tuple>();
  if (request.expected && outputs != nullptr) {
    trial.output_error = load::output_error(*request.expected, outputs->items);
    PARETO_TRY(load::check_outputs(*request.expected, outputs->items));
  }
  put_round(trial, std::move(measured.round));
  summarize(*lease.deployment, trial);
  return {};
}

Expected<MeasuredRound> TrialBench::measure_round(std::size_t place, int round,
                                                  const load::DeploymentCache::Lease& lease,
                                                  const UnitBudget& budget) {
  const results::TrialRecord& trial = run_.trials[place];
  const bool fresh = lease.opened || trial.rounds.empty();
  if (devices_.training != nullptr) {
    return devices_.training->measure(*lease.deployment, trial.plan, round, fresh, budget);
  }
  return places_[place].meter.measure(*lease.deployment, requests_.at(trial.batch).body, round,
                                      fresh, budget);
}

Expected<> TrialBench::judge_at_rest(std::size_t place) {
  results::TrialRecord& trial = run_.trials[place];
  // A codec that is chosen by the network is judged under it.
  if (devices_.accuracy == nullptr || trial.accuracy || trial.auto_codec ||
      trial.condition == kAsItIs) {
    return {};
  }
  PARETO_TRY(conditions_.rest());
  PARETO_ASSIGN(const load::DeploymentCache::Lease lease,
                with_context(open(place, trial.plan, ""), "deploying"));
  auto judged = judge(trial, *lease.deployment);
  // Its connections have adapted to another network than the trial's.
  deployments_.drop(place);
  return judged;
}

Expected<> TrialBench::judge(results::TrialRecord& trial, cluster::Deployment& deployment) {
  if (devices_.accuracy == nullptr || trial.accuracy) return {};
  return devices_.accuracy->judge(trial, run_.trials, deployment,
                                  std::chrono::milliseconds(options_.timeout_ms), devices_.say);
}

Expected<> TrialBench::enter_condition(results::TrialRecord& trial) {
  codecs_.network_changed(trial.condition);
  PARETO_ASSIGN(auto figures, clock_.timed(&results::TimeSpent::network_s,
                                           [&] { return conditions_.enter(trial.condition); }));
  if (figures) trial.network = std::move(figures);
  return {};
}

Expected<load::DeploymentCache::Lease> TrialBench::open(std::size_t key, const plan::Plan& plan,
                                                        const std::string& condition) {
  results::TimeSpent& spent = clock_.spent();
  const double before_s = spent.opening_s;
  auto lease = clock_.timed(&results::TimeSpent::opening_s,
                            [&] { return deployments_.get(key, plan, condition); });
  if (lease && lease->opened) spent.openings_ms.push_back((spent.opening_s - before_s) * 1e3);
  return lease;
}

int TrialBench::loading_of(std::size_t place, const cluster::Deployment& deployment) {
  Place& at = places_[place];
  std::vector<std::string> shards;
  for (const cluster::ShardLease& shard : deployment.shards()) {
    shards.push_back(shard->loaded.handle);
  }
  if (shards != at.shards) {
    // Shards of an earlier part of the run were others.
    for (const results::TrialRound& round : run_.trials[place].rounds) {
      at.loading = std::max(at.loading, round.loading);
    }
    ++at.loading;
    at.shards = std::move(shards);
  }
  return at.loading;
}

}  // namespace pareto::sweep
