#include "coordinator/sweep/sweep_runner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/results/time_text.h"
#include "coordinator/sweep/pass_order.h"
#include "coordinator/sweep/reference_reading.h"
#include "coordinator/sweep/trial_rounds.h"
#include "core/base/counted.h"

namespace pareto::sweep {
namespace {

UnitBudget budget_for(std::size_t units, const SweepOptions& options,
                      const SweepRunner::Pace& pace) {
  UnitBudget budget;
  budget.slice = std::clamp(pace.measuring / static_cast<double>(std::max<std::size_t>(units, 1)),
                            pace.shortest_slice, pace.longest_slice);
  budget.latency_requests = options.requests;
  return budget;
}

/// Returns which trials the schedule may come to, by place. An adaptive one may come to any.
std::vector<bool> wanted_by(const SweepSchedule& schedule, const SweepOptions& options,
                            std::size_t trials) {
  std::vector<bool> wanted(trials, options.adaptive);
  for (const Pass& pass : schedule.planned()) {
    for (const std::size_t place : pass.trials) wanted[place] = true;
  }
  return wanted;
}

/// Returns the first number that no round of the run and none that is planned has.
int free_round(const results::RunRecord& run, const SweepSchedule& schedule) {
  int planned = 0;
  for (const Pass& pass : schedule.planned()) planned = std::max(planned, pass.round + 1);
  return unused_round(run, planned);
}

}  // namespace

SweepRunner::SweepRunner(Environment environment, const SweepOptions& options,
                         results::RunRecord& run)
    : environment_(std::move(environment)),
      options_(options),
      run_(run),
      schedule_(make_schedule(run, options)),
      clock_(environment_.clock != nullptr ? *environment_.clock : machine_clock_, run.passes,
             schedule_->budget_s()),
      queue_(run.trials, wanted_by(*schedule_, options, run.trials.size())),
      bench_({environment_.workload, environment_.cluster, environment_.make_transport,
              environment_.deployment, environment_.training, environment_.accuracy,
              [this](const std::string& now) { report(now); }},
             options, run, clock_),
      reference_(run.trials, bench_, clock_, std::chrono::milliseconds(options.timeout_ms)),
      others_(environment_.cluster) {
  for (const Pass& pass : schedule_->planned()) progress_.total += pass.trials.size();
  for (std::size_t i = 0; i < environment_.cluster.size() && i < run_.devices.size(); ++i) {
    // The sum of both is what this run has sent, whenever it is asked for.
    sent_before_.push_back(run_.devices[i].weights_sent_bytes -
                           environment_.cluster.device(i).weights_sent_bytes());
  }
}

Expected<> SweepRunner::run() {
  PARETO_TRY(bench_.prepare());
  const std::vector<std::size_t> waiting = queue_.waiting();
  budget_ = budget_for(waiting.size() * static_cast<std::size_t>(options_.rounds), options_,
                       environment_.pace);
  if (!options_.adaptive) preload(waiting);
  PARETO_TRY(run_passes());
  const bool untried = queue_.restore_failures();
  if (options_.adaptive) {
    // What the last pass said of those that were not measured; where it was stopped, the next part
    // says it again.
    if (stopped() || untried) schedule_->next(run_);
    PARETO_TRY(environment_.store.put_trials(run_.id, run_.trials));
  }
  // Trials that a lost device, a network or an interruption kept from being measured may still be:
  // such a run is not finished.
  const bool skipped = std::ranges::count(run_.trials, results::TrialStatus::kSkipped,
                                          &results::TrialRecord::status) > 0;
  const bool cut_short =
      skipped || bench_.conditions().any_refused() || (untried && clock_.budget_is_spent());
  return checkpoint(!environment_.stop && !bench_.lost().any() && !cut_short);
}

Expected<> SweepRunner::run_passes() {
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
  return {};
}

Expected<> SweepRunner::run_pass(const Pass& pass) {
  if (!last_reading_) last_reading_ = read_reference();
  progress_.phase = phase_of(pass);
  // Stored with each unit, so that a sweep that is killed knows where it was and what it has spent.
  run_.passes.push_back(make_pass(pass.round, pass.repeat, *last_reading_, {}));
  run_.passes.back().whole = false;
  clock_.begin_pass();
  others_.start();
  bool whole = true;
  for (const std::size_t place :
       order_of(pass, run_.trials, run_.seed, clock_.budget_s().has_value())) {
    whole = !stopped() && !clock_.budget_is_spent();
    if (!whole) break;
    PARETO_TRY(run_unit(place, pass));
    others_.look();
  }
  clock_.count_pass();
  // After Ctrl-C nobody waits for a device that hangs, nor for the reference plan.
  if (!stopped()) others_.finish();
  ReferenceReading after = stopped() ? ReferenceReading{} : read_reference();
  results::PassRecord done = make_pass(pass.round, pass.repeat, *last_reading_, after);
  done.whole = whole;
  done.others = others_.others();
  done.company = others_.company();
  done.seconds = run_.passes.back().seconds;
  done.spent = clock_.take_spent();
  run_.passes.back() = std::move(done);
  last_reading_ = std::move(after);
  return checkpoint(false);
}

Expected<> SweepRunner::run_unit(std::size_t place, const Pass& pass) {
  results::TrialRecord& trial = queue_.trial(place);
  const auto report_trial = [&] {
    progress_.phase = phase_of(pass);
    report(progress_.phase + " " + trial.id);
  };
  if (!queue_.is_out(place) && !bench_.conditions().is_refused(trial.condition)) {
    report_trial();
    progress_.condition = trial.condition;
    queue_.begin(place);
    const auto measured = bench_.measure(place, pass.round, budget_);
    // What the trial has of this round is of another state of the machine than the others' is.
    if (!measured) renumber_round(trial, pass.round, free_round(run_, *schedule_));
    // In a repeat the trial keeps what it has.
    if (!measured && !pass.repeat) PARETO_TRY(record_failure(place, measured.error()));
    if (trial.status == results::TrialStatus::kRefused) queue_.refuse(place);
    clock_.count_pass();
    PARETO_TRY(environment_.store.put_trial(run_, trial));
  }
  ++progress_.done;
  report_trial();
  return {};
}

Expected<> SweepRunner::record_failure(std::size_t place, const Error& error) {
  const std::string& condition = queue_.trial(place).condition;
  if (!bench_.conditions().is_refused(condition)) {
    queue_.fail(place, error);
    return {};
  }
  schedule_->refuse(condition);
  const TrialQueue::Skipped skipped = queue_.skip(condition, error);
  progress_.skipped.push_back(fmt::format("{} of {} skipped: {}", skipped.plans,
                                          counted(queue_.size(), "plan"), error.message));
  return environment_.store.put_trials(run_.id, skipped.records);
}

void SweepRunner::preload(const std::vector<std::size_t>& places) {
  bench_.preload(places, environment_.stop, [this](std::size_t done, std::size_t total) {
    report(fmt::format("loading shard {}/{}", done + 1, total));
  });
}

ReferenceReading SweepRunner::read_reference() {
  return reference_.read([this] { report("timing the reference plan"); });
}

bool SweepRunner::stopped() const {
  return environment_.stop || bench_.lost().all() || queue_.is_exhausted();
}

std::string SweepRunner::phase_of(const Pass& pass) const {
  if (!pass.phase.empty()) {
    return pass.repeat ? pass.phase + ", again after a disturbance" : pass.phase;
  }
  return fmt::format("{} of {} measured", queue_.measured(), counted(queue_.size(), "plan"));
}

void SweepRunner::report(std::string now) {
  if (const auto& budget = clock_.budget_s()) {
    const double spent = clock_.seconds_spent();
    // The last trial may end after the budget.
    progress_.done = static_cast<std::size_t>(std::min(spent, *budget));
    progress_.total = static_cast<std::size_t>(std::ceil(*budget));
    progress_.most_left_s = std::max(0.0, *budget - spent);
  }
  progress_.now = std::move(now);
  progress_.trials = queue_.size();
  progress_.measured_trials = queue_.measured();
  progress_.failed_trials = queue_.failed();
  progress_.skipped_trials = queue_.skipped();
  if (environment_.on_progress) environment_.on_progress(progress_);
}

Expected<> SweepRunner::checkpoint(bool finished) {
  schedule_->mark(run_);
  for (std::size_t i = 0; i < sent_before_.size(); ++i) {
    run_.devices[i].weights_sent_bytes =
        sent_before_[i] + environment_.cluster.device(i).weights_sent_bytes();
  }
  run_.note = schedule_->describe(run_, reference_.id()) + " " + kMeasuringRules.describe(budget_);
  run_.finished = finished ? results::end_time_text(run_.started) : "";
  return environment_.store.update_run(run_);
}

}  // namespace pareto::sweep
