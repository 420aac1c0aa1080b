#include "client/experiment/sweep_runner.h"

#include <algorithm>
#include <utility>

#include "client/experiment/front.h"
#include "client/experiment/preload.h"
#include "client/experiment/statistics.h"
#include "client/experiment/time_text.h"

namespace pareto::client {
namespace {

constexpr std::chrono::milliseconds kProbeTimeout{3'000};

UnitBudget budget_for(std::size_t units, const SweepOptions& options,
                      const SweepRunner::Pace& pace) {
  UnitBudget budget;
  budget.slice = std::clamp(pace.measuring / static_cast<double>(std::max<std::size_t>(units, 1)),
                            pace.shortest_slice, pace.longest_slice);
  budget.latency_requests = options.requests;
  return budget;
}

/// Whether an error may mean that a device is gone.
bool smells_of_loss(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout ||
         code == ErrorCode::kClosed || code == ErrorCode::kInternal;
}

}  // namespace

SweepRunner::SweepRunner(Environment environment, const SweepOptions& options, RunRecord& run)
    : environment_(std::move(environment)),
      options_(options),
      run_(run),
      pool_(environment_.workload),
      deployments_(environment_.cluster, pool_, environment_.make_transport,
                   environment_.deployment) {}

Expected<> SweepRunner::run() {
  find_pending();
  for (std::size_t i = 0; i < environment_.cluster.size(); ++i) {
    sent_before_.push_back(environment_.cluster.device(i).weights_sent_bytes());
  }
  for (const std::int64_t batch : options_.batches) {
    PARETO_ASSIGN(std::vector<Value> inputs, environment_.workload.example(batch, options_.seed));
    requests_.emplace_back(Tuple{std::move(inputs)});
  }
  const auto rounds = static_cast<std::size_t>(options_.rounds);
  progress_.total = pending_.size() * rounds;
  budget_ = budget_for(progress_.total, options_, environment_.pace);
  run_.note = describe_rules(budget_, options_.rounds);
  preload();
  for (int round = 0; round < options_.rounds && !interrupted_; ++round) {
    if (auto done = run_round(round); !done) return done;
  }
  return finish();
}

void SweepRunner::find_pending() {
  for (TrialRecord& trial : run_.trials) {
    if (is_measured(trial)) continue;
    trial.status = TrialStatus::kOk;
    trial.failure.clear();
    pending_.push_back({&trial, TrialMeter(run_.seed + pending_.size()), false});
  }
}

void SweepRunner::preload() {
  std::vector<Plan> plans;
  for (const Pending& pending : pending_) plans.push_back(pending.trial->plan);
  preload_shards(plans, environment_.cluster, pool_, environment_.stop,
                 [&](std::size_t done, std::size_t total) {
                   report(fmt::format("loading shard {}/{}", done + 1, total));
                 });
}

Expected<> SweepRunner::run_round(int round) {
  Random random(run_.seed * 1'000'003 + static_cast<std::uint64_t>(round));
  for (const std::size_t index : random.permutation(pending_.size())) {
    if (environment_.stop || !anything_left()) {
      interrupted_ = true;
      return {};
    }
    PARETO_TRY(run_unit(index, round));
  }
  return {};
}

Expected<> SweepRunner::run_unit(std::size_t index, int round) {
  Pending& pending = pending_[index];
  if (!pending.failed) {
    report(fmt::format("round {}/{} {}", round + 1, options_.rounds, pending.trial->id));
    if (const auto lost = lost_device_of(pending.trial->plan)) {
      PARETO_TRY(record_failure(
          pending, {ErrorCode::kUnavailable, fmt::format("{} does not answer any more", *lost)}));
    } else if (auto measured = measure(index, round); !measured) {
      deployments_.drop(index);
      if (smells_of_loss(measured.error().code)) look_for_lost_devices(pending.trial->plan);
      PARETO_TRY(record_failure(pending, measured.error()));
    } else if (round + 1 == options_.rounds) {
      PARETO_TRY(environment_.store.put_trial(run_.id, *pending.trial));
    }
  }
  ++progress_.done;
  report(progress_.now);
  return {};
}

Expected<> SweepRunner::measure(std::size_t index, int round) {
  Pending& pending = pending_[index];
  TrialRecord& trial = *pending.trial;
  PARETO_ASSIGN(const DeploymentCache::Lease lease,
                with_context(deployments_.get(index, trial.plan), "deploying"));
  const auto batch = std::ranges::find(options_.batches, trial.batch) - options_.batches.begin();
  PARETO_TRY(pending.meter.measure(*lease.deployment, requests_[static_cast<std::size_t>(batch)],
                                   trial.plan.window, round, lease.fresh, budget_));
  if (round + 1 == options_.rounds) pending.meter.summarize(*lease.deployment, trial);
  return {};
}

Expected<> SweepRunner::record_failure(Pending& pending, const Error& error) {
  pending.failed = true;
  pending.trial->status = TrialStatus::kFailed;
  pending.trial->failure = error.message;
  ++progress_.failed_trials;
  return environment_.store.put_trial(run_.id, *pending.trial);
}

void SweepRunner::look_for_lost_devices(const Plan& plan) {
  for (const StagePlan& stage : plan.stages) {
    const auto device = environment_.cluster.find(stage.device);
    if (device && !(*device)->status(kProbeTimeout)) lost_devices_.insert(stage.device);
  }
}

std::optional<std::string> SweepRunner::lost_device_of(const Plan& plan) const {
  for (const StagePlan& stage : plan.stages) {
    if (lost_devices_.contains(stage.device)) return stage.device;
  }
  return std::nullopt;
}

bool SweepRunner::anything_left() const {
  return lost_devices_.size() < environment_.cluster.size() &&
         std::ranges::any_of(pending_, [](const Pending& pending) { return !pending.failed; });
}

void SweepRunner::report(std::string now) {
  progress_.now = std::move(now);
  if (environment_.on_progress) environment_.on_progress(progress_);
}

Expected<> SweepRunner::finish() {
  mark_front(run_.trials, run_.seed);
  for (std::size_t i = 0; i < run_.devices.size() && i < sent_before_.size(); ++i) {
    run_.devices[i].weights_sent_bytes +=
        environment_.cluster.device(i).weights_sent_bytes() - sent_before_[i];
  }
  // Trials that a lost device or an interruption kept from being measured may still be: such a run is not finished.
  const bool complete = !environment_.stop && lost_devices_.empty();
  run_.finished = complete ? time_text(std::chrono::system_clock::now()) : "";
  return environment_.store.finish_run(run_);
}

}  // namespace pareto::client
