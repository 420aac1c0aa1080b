#include "coordinator/sweep/sweep_runner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "coordinator/cluster/network.h"
#include "coordinator/load/micro_batch.h"
#include "coordinator/load/output_error.h"
#include "coordinator/load/preload.h"
#include "coordinator/results/time_text.h"
#include "coordinator/statistics/statistics.h"
#include "coordinator/sweep/trial_figures.h"
#include "core/base/counted.h"

namespace pareto::sweep {
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

cluster::DeploymentOptions with_chooser(cluster::DeploymentOptions options,
                                        cluster::CodecChooser& codecs) {
  options.codecs = &codecs;
  return options;
}

/// Whether an error may mean that a device is gone.
bool smells_of_loss(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kTimeout ||
         code == ErrorCode::kClosed || code == ErrorCode::kInternal;
}

/// Trials of a condition that follow each other where the next condition's turn comes before all of them are measured: a change of the
/// network takes a fifth of a trial.
constexpr std::size_t kTrialsInTurn = 8;

/// The network's condition while a sentinel is timed.
constexpr const char* kAtRest = "";

/// The sentinel's place among the deployments, beside the trials' indices.
constexpr std::size_t kSentinelKey = std::numeric_limits<std::size_t>::max();

results::TrialRound* find_round(results::TrialRecord& trial, int round) {
  const auto found = std::ranges::find(trial.rounds, round, &results::TrialRound::round);
  return found == trial.rounds.end() ? nullptr : &*found;
}

/// In place of what the trial has of that round.
void put_round(results::TrialRecord& trial, results::TrialRound measured) {
  if (results::TrialRound* const old = find_round(trial, measured.round)) {
    *old = std::move(measured);
    return;
  }
  trial.rounds.push_back(std::move(measured));
  std::ranges::sort(trial.rounds, {}, &results::TrialRound::round);
}

}  // namespace

SweepRunner::SweepRunner(Environment environment, const SweepOptions& options,
                         results::RunRecord& run)
    : environment_(std::move(environment)),
      options_(options),
      run_(run),
      pool_(environment_.workload),
      codecs_(options.codec_error),
      deployments_(environment_.cluster, pool_, environment_.make_transport,
                   with_chooser(environment_.deployment, codecs_)),
      others_(environment_.cluster) {
  if (environment_.clock == nullptr) environment_.clock = &machine_clock_;
}

Expected<> SweepRunner::run() {
  counted_until_ = environment_.clock->now();
  find_pending();
  read_devices();
  for (const results::TrialRecord& trial : run_.trials) {
    if (requests_.contains(trial.batch)) continue;
    PARETO_ASSIGN(std::vector<Value> inputs,
                  environment_.workload.example(trial.batch, options_.seed));
    PARETO_ASSIGN(auto expected, environment_.workload.expected(trial.batch, options_.seed));
    Request& request = requests_[trial.batch];
    request.body = Tuple{std::move(inputs)};
    request.expected = std::move(expected);
  }
  const auto left = std::ranges::count(pending_, true, &Pending::left);
  budget_ =
      budget_for(static_cast<std::size_t>(left * options_.rounds), options_, environment_.pace);
  if (!options_.adaptive) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      if (pending_[i].left) all.push_back(i);
    }
    preload(all);
  }
  while (!stopped()) {
    const std::optional<Pass> pass = schedule_->next(run_);
    if (!pass) break;
    if (options_.adaptive) preload(pass->trials);
    if (pass->repeat) {
      progress_.done = 0;
      progress_.total = pass->trials.size();
    }
    PARETO_TRY(run_pass(*pass));
  }
  const bool untried = restore_failures();
  if (options_.adaptive) {
    // What the last pass said of those that were not measured; where it was stopped, the next part says it anew.
    if (stopped() || untried) schedule_->next(run_);
    PARETO_TRY(environment_.store.put_trials(run_.id, run_.trials));
  }
  // Trials that a lost device, a network or an interruption kept from being measured may still be: such a run is not finished.
  const bool skipped = std::ranges::count(run_.trials, results::TrialStatus::kSkipped,
                                          &results::TrialRecord::status) > 0;
  const bool cut_short = skipped || !refused_.empty() || (untried && budget_is_spent());
  return checkpoint(!environment_.stop && lost_devices_.empty() && !cut_short);
}

void SweepRunner::find_pending() {
  schedule_ = make_schedule(run_, options_);
  // An adaptive one may come to any of them.
  std::vector<bool> left(run_.trials.size(), options_.adaptive);
  for (const Pass& pass : schedule_->planned()) {
    progress_.total += pass.trials.size();
    for (const std::size_t i : pass.trials) left[i] = true;
  }
  for (std::size_t i = 0; i < run_.trials.size(); ++i) {
    results::TrialRecord& trial = run_.trials[i];
    if (trial.no_room) {
      // To try would unload what other plans need.
      left[i] = false;
      ++progress_.failed_trials;
    }
    const results::TrialStatus status = trial.status;
    const std::string failure = trial.failure;
    if (left[i]) {
      trial.status = results::TrialStatus::kOk;
      trial.failure.clear();
    }
    const int window = trial.rounds.empty() ? trial.plan.window : trial.rounds.front().window;
    TrialMeter meter(window, run_.seed + i, load::micro_batch_sizes(trial.plan), timeout());
    // A search takes more than all the rest of a round; a grid that is measured whole is also there to tell how good predictions are.
    if (options_.adaptive && trial.prediction) meter.foresee_window(trial.prediction->window);
    pending_.push_back({&trial, std::move(meter), left[i], trial.no_room, false, status, failure});
  }
  for (const results::TrialRecord& trial : run_.trials) {
    if (trial.status != results::TrialStatus::kOk) continue;
    const bool one_device = trial.plan.stages.size() == 1;
    if (sentinel_ == nullptr || one_device) sentinel_ = &trial;
    if (one_device) break;
  }
}

void SweepRunner::read_devices() {
  for (std::size_t i = 0; i < environment_.cluster.size() && i < run_.devices.size(); ++i) {
    // The sum of both is what this run has sent, whenever it is asked for.
    sent_before_.push_back(run_.devices[i].weights_sent_bytes -
                           environment_.cluster.device(i).weights_sent_bytes());
  }
}

template <typename Work>
auto SweepRunner::timed(double results::TimeSpent::*part, Work work) {
  const TimePoint began = environment_.clock->now();
  auto result = work();
  spent_.*part += to_seconds(environment_.clock->now() - began);
  return result;
}

Expected<load::DeploymentCache::Lease> SweepRunner::open(std::size_t key, const plan::Plan& plan,
                                                         const std::string& condition) {
  const double before_s = spent_.opening_s;
  auto lease =
      timed(&results::TimeSpent::opening_s, [&] { return deployments_.get(key, plan, condition); });
  if (lease && lease->opened) spent_.openings_ms.push_back((spent_.opening_s - before_s) * 1e3);
  return lease;
}

void SweepRunner::preload(const std::vector<std::size_t>& trials) {
  std::vector<plan::Plan> plans;
  for (const std::size_t i : trials) plans.push_back(pending_[i].trial->plan);
  timed(&results::TimeSpent::loading_s, [&] {
    load::preload_shards(plans, environment_.cluster, pool_, environment_.stop,
                         [&](std::size_t done, std::size_t total) {
                           report(fmt::format("loading shard {}/{}", done + 1, total));
                         });
    return true;
  });
}

Expected<> SweepRunner::run_pass(const Pass& pass) {
  if (!last_reading_) last_reading_ = read_sentinel();
  progress_.phase = phase_of(pass);
  // Stored with each unit, so that a sweep that is killed knows where it was and what it has spent.
  run_.passes.push_back(make_pass(pass.round, pass.repeat, *last_reading_, {}));
  run_.passes.back().whole = false;
  pass_began_ = environment_.clock->now();
  others_.start();
  bool whole = true;
  for (const std::size_t trial : in_random_order(pass)) {
    whole = !stopped() && !budget_is_spent();
    if (!whole) break;
    PARETO_TRY(run_unit(trial, pass));
    others_.look();
  }
  count_seconds();
  // Who pressed Ctrl-C does not wait for a device that hangs.
  if (!stopped()) others_.finish();
  // Who pressed Ctrl-C does not wait for one.
  SentinelReading after = stopped() ? SentinelReading{} : read_sentinel();
  results::PassRecord done = make_pass(pass.round, pass.repeat, *last_reading_, after);
  done.whole = whole;
  done.others = others_.others();
  done.company = others_.company();
  done.seconds = run_.passes.back().seconds;
  const TimePoint now = environment_.clock->now();
  spent_.total_s = to_seconds(now - std::exchange(counted_until_, now));
  done.spent = std::exchange(spent_, {});
  run_.passes.back() = std::move(done);
  last_reading_ = std::move(after);
  return checkpoint(false);
}

std::vector<std::size_t> SweepRunner::in_random_order(const Pass& pass) const {
  statistics::Random random(run_.seed * 1'000'003 + static_cast<std::uint64_t>(pass.round));
  // What a budget may cut short leaves no condition out: they come in turns.
  const std::size_t in_turn = schedule_->budget_s() ? kTrialsInTurn : pass.trials.size();
  struct Condition {
    std::size_t number = 0;  ///< in a random order too
    std::size_t trials = 0;
  };
  std::map<std::string, Condition> conditions;
  struct Place {
    std::size_t turn = 0;
    std::size_t condition = 0;
    std::size_t trial = 0;
  };
  std::vector<Place> places;
  for (const std::size_t index : random.permutation(pass.trials.size())) {
    const std::size_t trial = pass.trials[index];
    Condition& condition =
        conditions.try_emplace(run_.trials[trial].condition, Condition{conditions.size()})
            .first->second;
    places.push_back({condition.trials++ / in_turn, condition.number, trial});
  }
  std::ranges::stable_sort(
      places, {}, [](const Place& place) { return std::pair(place.turn, place.condition); });
  std::vector<std::size_t> order;
  for (const Place& place : places) order.push_back(place.trial);
  return order;
}

void SweepRunner::count_seconds() {
  run_.passes.back().seconds = to_seconds(environment_.clock->now() - pass_began_);
}

double SweepRunner::seconds_spent() const {
  double spent = 0;
  for (const results::PassRecord& pass : run_.passes) spent += pass.seconds;
  return spent;
}

bool SweepRunner::budget_is_spent() const {
  const auto budget = schedule_->budget_s();
  return budget && seconds_spent() >= *budget;
}

Expected<> SweepRunner::run_unit(std::size_t index, const Pass& pass) {
  Pending& pending = pending_[index];
  const auto report_trial = [&] {
    progress_.phase = phase_of(pass);
    report(fmt::format("{} {}{}", progress_.phase, pass.repeat ? "again " : "", pending.trial->id));
  };
  const std::string& condition = pending.trial->condition;
  if (!pending.failed && !refused_.contains(condition)) {
    report_trial();
    pending.tried = true;
    const auto measured = measure(index, pass.round);
    if (!measured) keep_apart(*pending.trial, pass.round);
    // In a repeat the trial keeps what it has.
    if (!measured && !pass.repeat) {
      if (refused_.contains(condition)) {
        PARETO_TRY(skip_condition(condition, measured.error()));
      } else {
        record_failure(pending, measured.error());
      }
    }
    count_seconds();
    PARETO_TRY(environment_.store.put_trial(run_, *pending.trial));
  }
  ++progress_.done;
  report_trial();
  return {};
}

Expected<> SweepRunner::measure(std::size_t index, int round) {
  Pending& pending = pending_[index];
  results::TrialRecord& trial = *pending.trial;
  if (const Error* loss = loss_of_device(trial.plan)) {
    return fail(ErrorCode::kUnavailable, "a device was lost: {}", loss->message);
  }
  const auto through = [&]() -> Expected<> {
    PARETO_TRY(apply_condition(trial));
    PARETO_ASSIGN(const load::DeploymentCache::Lease lease,
                  with_context(open(index, trial.plan, trial.condition), "deploying"));
    // What was chosen when it was first deployed holds for all its rounds.
    trial.plan.codecs = lease.deployment->codecs();
    trial.codec = cluster::codec_text(trial.plan.codecs);
    const Request& request = request_of(trial);
    PARETO_ASSIGN(MeasuredRound measured, timed(&results::TimeSpent::measuring_s, [&] {
                    return pending.meter.measure(*lease.deployment, request.body, round,
                                                 lease.opened || trial.rounds.empty(), budget_);
                  }));
    spent_.requests += measured.requests;
    if (const cluster::Network* const network = environment_.cluster.network()) {
      PARETO_TRY(network->check());
    }
    measured.round.loading = loading_of(pending, *lease.deployment);
    const auto* outputs = measured.output.get_if<Tuple>();
    if (request.expected && outputs != nullptr) {
      trial.output_error = load::output_error(*request.expected, outputs->items);
      PARETO_TRY(load::check_outputs(*request.expected, outputs->items));
    }
    put_round(trial, std::move(measured.round));
    summarize(*lease.deployment, trial);
    return {};
  };
  auto done = through();
  if (!done) {
    deployments_.drop(index);
    if (smells_of_loss(done.error().code)) look_for_lost_devices(trial.plan);
    // Links say that they broke; the device that is gone is why.
    if (const Error* loss = loss_of_device(trial.plan)) {
      return fail(ErrorCode::kUnavailable, "a device was lost: {}; seen as: {}", loss->message,
                  done.error().message);
    }
  }
  return done;
}

int SweepRunner::loading_of(Pending& pending, const cluster::Deployment& deployment) {
  std::vector<std::string> shards;
  for (const cluster::ShardLease& shard : deployment.shards())
    shards.push_back(shard->loaded.handle);
  if (shards != pending.shards) {
    // Those of an earlier part of the run were others.
    for (const results::TrialRound& round : pending.trial->rounds) {
      pending.loading = std::max(pending.loading, round.loading);
    }
    ++pending.loading;
    pending.shards = std::move(shards);
  }
  return pending.loading;
}

Expected<> SweepRunner::apply_condition(results::TrialRecord& trial) {
  progress_.condition = trial.condition;
  codecs_.network_changed(trial.condition);
  cluster::Network* const network = environment_.cluster.network();
  const auto applied = timed(&results::TimeSpent::network_s,
                             [&] { return cluster::apply_condition(network, trial.condition); });
  if (!applied) {
    // One that was had before may be had again: the trial fails, and no other.
    if (!held_.contains(trial.condition)) {
      refused_.insert(trial.condition);
      schedule_->refuse(trial.condition);
    }
    return tl::unexpected(applied.error());
  }
  held_.insert(trial.condition);
  if (!*applied || network->emulator().empty()) return {};
  const netem::LinkMeasurement& link = **applied;
  results::NetworkFigures& figures = trial.network.emplace();
  figures.round_trip_ms = to_milliseconds(link.round_trip);
  figures.forward_mbit_per_s = link.forward.bits_per_second / 1e6;
  figures.backward_mbit_per_s = link.backward.bits_per_second / 1e6;
  figures.emulator = network->emulator();
  // Without probes there is one round trip, and nothing that could be lost.
  if (link.forward.probes > 0) {
    figures.round_trip_deviation_ms = to_milliseconds(link.round_trip_deviation);
    figures.forward_loss = link.forward.loss;
  }
  if (link.backward.probes > 0) figures.backward_loss = link.backward.loss;
  return {};
}

SentinelReading SweepRunner::read_sentinel() {
  const auto rest = [&] { return cluster::put_to_rest(environment_.cluster.network()); };
  if (!timed(&results::TimeSpent::network_s, rest)) return {};
  SentinelReading reading;
  reading.loop_ms = timed(&results::TimeSpent::sentinel_s, time_sentinel_loop);
  if (sentinel_ == nullptr || loss_of_device(sentinel_->plan)) return reading;
  report("timing sentinel");
  // A plan that fails is recorded where it is measured as a trial; here it is only not there.
  if (const auto lease = open(kSentinelKey, sentinel_->plan, kAtRest)) {
    auto plan_ms = timed(&results::TimeSpent::sentinel_s, [&] {
      return time_sentinel_plan(*lease->deployment, sentinel_->plan, request_of(*sentinel_).body,
                                timeout());
    });
    if (plan_ms) {
      reading.plan_ms = *std::move(plan_ms);
    } else {
      deployments_.drop(kSentinelKey);
    }
  }
  return reading;
}

void SweepRunner::record_failure(Pending& pending, const Error& error) {
  pending.failed = true;
  pending.trial->status = results::TrialStatus::kFailed;
  pending.trial->failure = error.message;
  ++progress_.failed_trials;
}

bool SweepRunner::restore_failures() {
  bool any = false;
  for (Pending& pending : pending_) {
    const bool restored = pending.left && !pending.tried && !pending.failed &&
                          pending.earlier_status != results::TrialStatus::kOk;
    if (!restored) continue;
    any = true;
    pending.trial->status = pending.earlier_status;
    pending.trial->failure = pending.earlier_failure;
  }
  return any;
}

void SweepRunner::keep_apart(results::TrialRecord& trial, int round) {
  results::TrialRound* const old = find_round(trial, round);
  if (old == nullptr) return;
  int planned = 0;
  for (const Pass& pass : schedule_->planned()) planned = std::max(planned, pass.round + 1);
  old->round = unused_round(run_, planned);
  std::ranges::sort(trial.rounds, {}, &results::TrialRound::round);
}

Expected<> SweepRunner::skip_condition(const std::string& condition, const Error& error) {
  std::vector<results::TrialRecord> skipped;
  std::size_t left = 0;
  for (Pending& pending : pending_) {
    results::TrialRecord& trial = *pending.trial;
    if (!pending.left || pending.failed || trial.condition != condition) continue;
    pending.failed = true;
    ++left;
    // What an earlier run measured of it stays.
    if (!trial.rounds.empty()) continue;
    trial.status = results::TrialStatus::kSkipped;
    trial.failure = error.message;
    skipped.push_back(trial);
  }
  progress_.skipped_trials += skipped.size();
  progress_.skipped.push_back(
      fmt::format("{} of {} skipped: {}", left, counted(pending_.size(), "plan"), error.message));
  return environment_.store.put_trials(run_.id, skipped);
}

void SweepRunner::look_for_lost_devices(const plan::Plan& plan) {
  for (const plan::StagePlan& stage : plan.stages) {
    const auto device = environment_.cluster.find(stage.device);
    if (!device) continue;
    if (auto status = (*device)->status(kProbeTimeout); !status) {
      lost_devices_.emplace(stage.device, std::move(status).error());
    }
  }
}

const Error* SweepRunner::loss_of_device(const plan::Plan& plan) const {
  for (const plan::StagePlan& stage : plan.stages) {
    if (const auto lost = lost_devices_.find(stage.device); lost != lost_devices_.end()) {
      return &lost->second;
    }
  }
  return nullptr;
}

bool SweepRunner::anything_left() const {
  return lost_devices_.size() < environment_.cluster.size() &&
         std::ranges::any_of(
             pending_, [](const Pending& pending) { return pending.left && !pending.failed; });
}

bool SweepRunner::stopped() const { return environment_.stop || !anything_left(); }

std::size_t SweepRunner::measured_trials() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      run_.trials, [](const results::TrialRecord& trial) { return !trial.rounds.empty(); }));
}

std::string SweepRunner::phase_of(const Pass& pass) const {
  if (!pass.phase.empty()) return pass.phase;
  return fmt::format("{} of {} measured", measured_trials(), counted(run_.trials.size(), "plan"));
}

void SweepRunner::report(std::string now) {
  if (const auto budget = schedule_->budget_s()) {
    // The last trial may end after the budget.
    progress_.done = static_cast<std::size_t>(std::min(seconds_spent(), *budget));
    progress_.total = static_cast<std::size_t>(std::ceil(*budget));
    progress_.most_left_s = std::max(0.0, *budget - seconds_spent());
  }
  progress_.now = std::move(now);
  progress_.trials = run_.trials.size();
  progress_.measured_trials = measured_trials();
  if (environment_.on_progress) environment_.on_progress(progress_);
}

const SweepRunner::Request& SweepRunner::request_of(const results::TrialRecord& trial) const {
  return requests_.at(trial.batch);
}

Expected<> SweepRunner::checkpoint(bool finished) {
  schedule_->mark(run_);
  for (std::size_t i = 0; i < sent_before_.size(); ++i) {
    run_.devices[i].weights_sent_bytes =
        sent_before_[i] + environment_.cluster.device(i).weights_sent_bytes();
  }
  run_.note = schedule_->describe(run_, sentinel_ != nullptr ? sentinel_->id : "") + " " +
              kMeasuringRules.describe(budget_);
  run_.finished = finished ? results::time_text(std::chrono::system_clock::now()) : "";
  return environment_.store.update_run(run_);
}

}  // namespace pareto::sweep
