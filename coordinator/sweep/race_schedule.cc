#include "coordinator/sweep/race_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "coordinator/statistics/front.h"
#include "coordinator/statistics/round_noise.h"
#include "coordinator/statistics/statistics.h"
#include "coordinator/statistics/statistics_rounds.h"
#include "coordinator/sweep/reference_reading.h"
#include "core/base/counted.h"

namespace pareto::sweep {
namespace {

/// Distance from one transport to another among the features.
constexpr double kOtherTransport = 0.5;
/// The same for settings: a device has a profile of its own under each.
constexpr double kOtherSettings = 1;

/// Numbers of names, in the order in which they are first asked for.
class Numbers {
 public:
  double of(const std::string& name) {
    return static_cast<double>(numbers_.try_emplace(name, std::ssize(numbers_)).first->second);
  }

 private:
  std::map<std::string, std::ptrdiff_t> numbers_;
};

std::vector<double> features_of(const results::TrialRecord& trial, double transport,
                                double settings) {
  const auto& stages = trial.plan.stages;
  const auto end = static_cast<double>(std::max<std::int64_t>(stages.back().end, 1));
  const double first = static_cast<double>(stages.front().end) / end;
  const double last = static_cast<double>(stages.back().begin) / end;
  const double bytes = trial.split ? static_cast<double>(trial.split->boundary_bytes) : 1;
  const bool alone = stages.size() == 1;
  return {2 * first,
          alone ? 2.0 : 2 * last,
          alone ? 4.0 : std::log(std::max(bytes, 1.0)) / 3,
          static_cast<double>(stages.size()),
          kOtherTransport * transport,
          kOtherSettings * settings,
          std::log(static_cast<double>(trial.plan.messages()))};
}

class RaceSchedule final : public SweepSchedule {
 public:
  RaceSchedule(const results::RunRecord& run, const SweepOptions& options)
      : budget_s_(options.budget_s), plans_(race_plans(run.trials)) {
    rules_.seed = run.seed;
    rules_.most_rounds = std::max(rules_.most_rounds, options.rounds);
    for (const results::TrialRecord& trial : run.trials) {
      for (const results::TrialRound& round : trial.rounds)
        next_round_ = std::max(next_round_, round.round + 1);
    }
    for (const results::PassRecord& pass : run.passes)
      next_round_ = std::max(next_round_, pass.round + 1);
  }

  std::optional<Pass> next(results::RunRecord& run) override {
    std::vector<std::size_t> next_pass = judge(run);
    double spent = 0;
    for (const results::PassRecord& pass : run.passes) spent += pass.seconds;
    if (next_pass.empty() || spent >= budget_s_) return std::nullopt;
    return Pass{next_round_++, false, std::move(next_pass)};
  }

  std::optional<double> budget_s() const override { return budget_s_; }

  void refuse(const std::string& condition) override { refused_.insert(condition); }

  /// Plans have few rounds here, and in different passes. Their medians alone would compare them in
  /// different states of the machine.
  void mark(results::RunRecord& run) override {
    if (standings_.empty()) judge(run);
    std::vector<statistics::Belief> beliefs;
    for (const statistics::PlanStanding& standing : standings_) {
      beliefs.push_back({standing.latency.logarithm, standing.latency.deviation,
                         standing.throughput.logarithm, standing.throughput.deviation,
                         standing.p_front});
    }
    settle_by_beliefs(run.trials, beliefs);
  }

  std::string describe(const results::RunRecord& /*run*/,
                       const std::string& reference) const override {
    std::string rules = fmt::format(
        "The sweep is adaptive: all plans are predicted, and only those that may be on the front "
        "are measured. Of each network and batch at least {} plans are measured, {} of them "
        "twice, and up to {} that predictions put far behind the front. Each pass measures its "
        "plans in a random order of its own. Passes go on until the probability of each plan is "
        "below {:.0f} % or above {:.0f} %, for at most {} rounds a plan and {} in all. "
        "Predictions may be no guide: plans that they set far apart stood in another order once "
        "measured, or the order of all was no better than chance, or a busy machine was profiled "
        "and they were not proved. Then only measured plans are ruled out, and no others have a "
        "probability. Plans that were ruled out unmeasured hold at most {:.0f} % of the "
        "front together. No pass is measured again: what it did to all its plans alike is "
        "removed from their rounds. The probability of a plan is the share of draws in which no "
        "other plan is better by more than {:.0f} %. The draws follow what predictions, rounds "
        "and a Gaussian process of the predictions' errors say together. The figures of a "
        "measured plan are what predictions and rounds say together. The front is made of these "
        "figures, and the medians of the plan's rounds stand next to them. {} Undecided: {} of "
        "{}.",
        rules_.first_look, rules_.second_look, rules_.far_look, 100 * rules_.undecided,
        100 * (1 - rules_.undecided), rules_.most_rounds, time_words(budget_s_),
        100 * rules_.left_out, 100 * results::kFrontTolerance, statistics::kIntervalRules,
        undecided_, counted(plans_.size(), "plan"));
    if (!reference.empty()) rules += " " + describe_reference(reference);
    return rules;
  }

 private:
  /// Brings standings and expected figures up to date. Returns the plans to measure next.
  std::vector<std::size_t> judge(results::RunRecord& run) {
    take_rounds(run);
    statistics::RaceState state = statistics::judge_race(plans_, rules_);
    standings_ = std::move(state.standings);
    undecided_ = 0;
    for (std::size_t i = 0; i < standings_.size(); ++i) {
      if (!standings_[i].decided) ++undecided_;
      expect(run.trials[i], standings_[i]);
    }
    return std::move(state.next_pass);
  }

  /// Gives the race the rounds that are new.
  void take_rounds(const results::RunRecord& run) {
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const results::TrialRecord& trial = run.trials[i];
      plans_[i].failed = trial.status != results::TrialStatus::kOk;
      plans_[i].unreachable = refused_.contains(trial.condition);
      for (const results::TrialRound& round : trial.rounds) {
        if (std::ranges::count(plans_[i].rounds, round.round, &statistics::RaceRound::pass) > 0)
          continue;
        if (const auto taken = race_round(round, trial.batch)) plans_[i].rounds.push_back(*taken);
      }
    }
  }

  static void expect(results::TrialRecord& trial, const statistics::PlanStanding& standing) {
    if (!trial.prediction) return;
    trial.prediction->expected_latency_ms = std::exp(standing.latency.logarithm);
    trial.prediction->expected_samples_per_s = std::exp(standing.throughput.logarithm);
    trial.prediction->latency_deviation = standing.latency.deviation;
    trial.prediction->throughput_deviation = standing.throughput.deviation;
    const auto& seen = standing.seen;
    trial.prediction->seen_latency_ms = seen ? std::exp(seen->latency) : 0;
    trial.prediction->seen_samples_per_s = seen ? std::exp(seen->throughput) : 0;
  }

  const double budget_s_;
  statistics::RaceRules rules_;
  std::vector<statistics::RacePlan> plans_;
  std::set<std::string> refused_;  ///< conditions that were refused
  std::vector<statistics::PlanStanding> standings_;
  std::size_t undecided_ = 0;
  int next_round_ = 0;
};

}  // namespace

std::unique_ptr<SweepSchedule> make_race_schedule(const results::RunRecord& run,
                                                  const SweepOptions& options) {
  return std::make_unique<RaceSchedule>(run, options);
}

std::vector<statistics::RacePlan> race_plans(const std::vector<results::TrialRecord>& trials) {
  std::map<std::pair<std::int64_t, std::string>, int> groups;
  Numbers transports;
  Numbers settings;
  std::vector<statistics::RacePlan> plans;
  for (const results::TrialRecord& trial : trials) {
    const auto group = groups.try_emplace({trial.batch, trial.condition}, std::ssize(groups));
    statistics::RacePlan& plan = plans.emplace_back();
    plan.group = group.first->second;
    plan.features =
        features_of(trial, transports.of(trial.transport),
                    settings.of(trial.plan.threads_text() + " " + trial.plan.schedule_text()));
    if (trial.prediction) {
      plan.predicted = {
          {std::log(trial.prediction->latency_ms), std::log(trial.prediction->samples_per_s)}};
      plan.compute_share = {trial.prediction->latency_compute_share,
                            trial.prediction->throughput_compute_share};
      plan.doubted = trial.prediction->doubted;
    }
  }
  return plans;
}

std::optional<statistics::RaceRound> race_round(const results::TrialRound& round,
                                                std::int64_t batch) {
  const std::span<const results::TrialRound> alone(&round, 1);
  const std::vector<statistics::RoundFigure> latency = statistics::latency_figures(alone);
  const std::vector<statistics::RoundFigure> throughput =
      statistics::throughput_figures(alone, batch);
  if (latency.empty() || throughput.empty()) return std::nullopt;
  return statistics::RaceRound{round.round,
                               {latency[0].logarithm, throughput[0].logarithm},
                               {latency[0].error, throughput[0].error},
                               round.loading};
}

std::string time_words(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  const double minutes = seconds / 60;
  if (minutes < 90) return fmt::format("{:.3g} min", minutes);
  const double hours = minutes / 60;
  return hours < 100 ? fmt::format("{:.3g} h", hours) : fmt::format("{:.0f} h", hours);
}

}  // namespace pareto::sweep
