#include "client/experiment/sweep_runner.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "client/cluster/network.h"
#include "client/experiment/front.h"
#include "client/experiment/micro_batch.h"
#include "client/experiment/output_error.h"
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

DeploymentOptions with_chooser(DeploymentOptions options, CodecChooser& codecs) {
  options.codecs = &codecs;
  return options;
}

/// Whether an error may mean that a device is gone.
bool smells_of_loss(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout ||
         code == ErrorCode::kClosed || code == ErrorCode::kInternal;
}

/// The sentinel's place among the deployments, beside the trials' indices.
constexpr std::size_t kSentinelKey = std::numeric_limits<std::size_t>::max();

TrialRound* find_round(TrialRecord& trial, int round) {
  const auto found = std::ranges::find(trial.rounds, round, &TrialRound::round);
  return found == trial.rounds.end() ? nullptr : &*found;
}

/// In place of what the trial has of that round.
void put_round(TrialRecord& trial, TrialRound measured) {
  if (TrialRound* const old = find_round(trial, measured.round)) {
    *old = std::move(measured);
    return;
  }
  trial.rounds.push_back(std::move(measured));
  std::ranges::sort(trial.rounds, {}, &TrialRound::round);
}

}  // namespace

SweepRunner::SweepRunner(Environment environment, const SweepOptions& options, RunRecord& run)
    : environment_(std::move(environment)),
      options_(options),
      run_(run),
      pool_(environment_.workload),
      codecs_(options.codec_error),
      deployments_(environment_.cluster, pool_, environment_.make_transport,
                   with_chooser(environment_.deployment, codecs_)) {}

Expected<> SweepRunner::run() {
  find_pending();
  read_devices();
  for (const TrialRecord& trial : run_.trials) {
    if (requests_.contains(trial.batch)) continue;
    PARETO_ASSIGN(std::vector<Value> inputs,
                  environment_.workload.example(trial.batch, options_.seed));
    PARETO_ASSIGN(auto expected, environment_.workload.expected(trial.batch, options_.seed));
    Request& request = requests_[trial.batch];
    request.body = Tuple{std::move(inputs)};
    request.expected = std::move(expected);
  }
  const auto rounds = static_cast<std::size_t>(options_.rounds);
  budget_ = budget_for(pending_.size() * rounds, options_, environment_.pace);
  preload();
  // Passes of an earlier part of the run may have seen another machine.
  const auto first_pass = static_cast<std::ptrdiff_t>(run_.passes.size());
  for (int round = 0; round < options_.rounds; ++round) PARETO_TRY(run_pass(round, false));
  if (!stopped()) {
    for (const int round :
         disturbed_rounds({run_.passes.begin() + first_pass, run_.passes.end()})) {
      progress_.total += pending_.size();
      PARETO_TRY(run_pass(round, true));
    }
  }
  // Trials that a lost device or an interruption kept from being measured may still be: such a run is not finished.
  return checkpoint(!environment_.stop && lost_devices_.empty());
}

void SweepRunner::find_pending() {
  const auto rounds = static_cast<std::size_t>(options_.rounds);
  for (TrialRecord& trial : run_.trials) {
    if (trial.status == TrialStatus::kOk && trial.rounds.size() >= rounds) continue;
    trial.status = TrialStatus::kOk;
    trial.failure.clear();
    const int window = trial.rounds.empty() ? trial.plan.window : trial.rounds.front().window;
    progress_.total += rounds - std::min(rounds, trial.rounds.size());
    pending_.push_back(
        {&trial, TrialMeter(window, run_.seed + pending_.size(), micro_batch_sizes(trial.plan)),
         false});
  }
  const auto one_device = std::ranges::find_if(
      run_.trials, [](const TrialRecord& trial) { return trial.plan.stages.size() == 1; });
  sentinel_ = one_device != run_.trials.end() ? &*one_device
              : run_.trials.empty()           ? nullptr
                                              : &run_.trials.front();
}

void SweepRunner::read_devices() {
  for (std::size_t i = 0; i < environment_.cluster.size() && i < run_.devices.size(); ++i) {
    // The sum of both is what this run has sent, whenever it is asked for.
    sent_before_.push_back(run_.devices[i].weights_sent_bytes -
                           environment_.cluster.device(i).weights_sent_bytes());
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

Expected<> SweepRunner::run_pass(int round, bool repeat) {
  std::vector<std::size_t> wanted;
  Random random(run_.seed * 1'000'003 + static_cast<std::uint64_t>(round));
  for (const std::size_t index : random.permutation(pending_.size())) {
    if (repeat || find_round(*pending_[index].trial, round) == nullptr) wanted.push_back(index);
  }
  if (wanted.empty() || stopped()) return {};
  if (!last_reading_) last_reading_ = read_sentinel();
  for (const std::size_t index : wanted) {
    if (stopped()) return {};
    PARETO_TRY(run_unit(index, round, repeat));
  }
  SentinelReading after = read_sentinel();
  run_.passes.push_back(make_pass(round, repeat, *last_reading_, after));
  last_reading_ = std::move(after);
  return checkpoint(false);
}

Expected<> SweepRunner::run_unit(std::size_t index, int round, bool repeat) {
  Pending& pending = pending_[index];
  if (!pending.failed) {
    report(fmt::format("round {}/{} {}{}", round + 1, options_.rounds, repeat ? "again " : "",
                       pending.trial->id));
    const auto measured = measure(index, round);
    if (measured) {
      PARETO_TRY(environment_.store.put_trial(run_.id, *pending.trial));
    } else if (!repeat) {  // else the trial keeps what it has
      PARETO_TRY(record_failure(pending, measured.error()));
    }
  }
  ++progress_.done;
  report(progress_.now);
  return {};
}

Expected<> SweepRunner::measure(std::size_t index, int round) {
  Pending& pending = pending_[index];
  TrialRecord& trial = *pending.trial;
  if (const auto lost = lost_device_of(trial.plan)) {
    return fail(ErrorCode::kUnavailable, "{} does not answer any more", *lost);
  }
  const auto through = [&]() -> Expected<> {
    PARETO_TRY(apply_condition(trial));
    PARETO_ASSIGN(const DeploymentCache::Lease lease,
                  with_context(deployments_.get(index, trial.plan), "deploying"));
    // What was chosen when it was first deployed holds for all its rounds.
    trial.plan.codecs = lease.deployment->codecs();
    trial.codec = codec_text(trial.plan.codecs);
    const Request& request = request_of(trial);
    PARETO_ASSIGN(MeasuredRound measured, pending.meter.measure(*lease.deployment, request.body,
                                                                round, lease.fresh, budget_));
    if (const Network* const network = environment_.cluster.network()) {
      PARETO_TRY(network->check());
    }
    put_round(trial, std::move(measured.round));
    const auto* outputs = measured.output.get_if<Tuple>();
    if (request.expected && outputs != nullptr) {
      trial.output_error = output_error(*request.expected, outputs->items);
    }
    summarize(*lease.deployment, trial);
    return {};
  };
  auto done = through();
  if (!done) {
    deployments_.drop(index);
    if (smells_of_loss(done.error().code)) look_for_lost_devices(trial.plan);
  }
  return done;
}

Expected<> SweepRunner::apply_condition(TrialRecord& trial) {
  codecs_.network_changed(trial.condition);
  Network* const network = environment_.cluster.network();
  if (network == nullptr) {
    if (trial.condition == "none") return {};
    return fail(ErrorCode::kInvalidArgument,
                "network {}: the network between these devices cannot be changed", trial.condition);
  }
  PARETO_ASSIGN(const netem::LinkMeasurement link, network->apply(trial.condition));
  trial.network = NetworkFigures{to_milliseconds(link.round_trip),
                                 to_milliseconds(link.round_trip_deviation),
                                 link.forward.bits_per_second / 1e6,
                                 link.backward.bits_per_second / 1e6,
                                 link.forward.loss,
                                 link.backward.loss,
                                 network->emulator()};
  return {};
}

SentinelReading SweepRunner::read_sentinel() {
  Network* const network = environment_.cluster.network();
  if (network != nullptr && !network->apply(network->resting_condition())) return {};
  SentinelReading reading;
  reading.loop_ms = time_sentinel_loop();
  if (sentinel_ == nullptr || lost_device_of(sentinel_->plan)) return reading;
  report("timing sentinel");
  // A plan that fails is recorded where it is measured as a trial; here it is only not there.
  if (const auto lease = deployments_.get(kSentinelKey, sentinel_->plan)) {
    if (auto timed = time_sentinel_plan(*lease->deployment, request_of(*sentinel_).body)) {
      reading.plan_ms = *std::move(timed);
    } else {
      deployments_.drop(kSentinelKey);
    }
  }
  return reading;
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

bool SweepRunner::stopped() const { return environment_.stop || !anything_left(); }

void SweepRunner::report(std::string now) {
  progress_.now = std::move(now);
  if (environment_.on_progress) environment_.on_progress(progress_);
}

const SweepRunner::Request& SweepRunner::request_of(const TrialRecord& trial) const {
  return requests_.at(trial.batch);
}

Expected<> SweepRunner::checkpoint(bool finished) {
  mark_front(run_.trials, run_.seed);
  for (std::size_t i = 0; i < sent_before_.size(); ++i) {
    run_.devices[i].weights_sent_bytes =
        sent_before_[i] + environment_.cluster.device(i).weights_sent_bytes();
  }
  run_.note = describe_rules(budget_, options_.rounds);
  if (sentinel_ != nullptr) run_.note += " " + describe_sentinel(sentinel_->id, run_.passes);
  run_.finished = finished ? time_text(std::chrono::system_clock::now()) : "";
  return environment_.store.update_run(run_);
}

}  // namespace pareto::client
