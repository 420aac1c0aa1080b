#include "coordinator/statistics/run_diff.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "coordinator/results/shown_figure.h"
#include "coordinator/statistics/comparability.h"
#include "coordinator/statistics/front.h"
#include "core/base/text.h"

namespace pareto::statistics {
namespace {

using planning::Direction;
using Compare = Ratio (*)(std::span<const RoundFigure>, std::span<const RoundFigure>);

/// Returns whether an adaptive sweep shows another figure than the median of the rounds.
bool is_believed(double shown, double median) {
  return median > 0 && shown != results::shown_figure(median);
}

/// Puts the ratio where the figures are that the runs show, as wide as rounds make it.
void centre_on_figures(FigureDiff& figure) {
  if (figure.a <= 0 || figure.b <= 0) return;
  const double factor = figure.b / figure.a / figure.ratio.value;
  figure.ratio.value *= factor;
  for (std::optional<results::Interval>* const interval :
       {&figure.ratio.ci975, &figure.ratio.ci90}) {
    if (!*interval) continue;
    (*interval)->low *= factor;
    (*interval)->high *= factor;
  }
}

/// Makes the ratio that of the figures if those are not of rounds alone.
void let_agree(FigureDiff& figure, bool believed) {
  if (!believed && figure.ratio.rounds_a > 0 && figure.ratio.rounds_b > 0) return;
  centre_on_figures(figure);
  figure.ratio.a = figure.a;
  figure.ratio.b = figure.b;
}

/// Returns whether the figures that runs show changed one way, and the means of their rounds the
/// other.
bool disagree(const FigureDiff& figure) {
  if (figure.ratio.paired || figure.a <= 0 || figure.b <= 0) return false;
  return std::log(figure.b / figure.a) * std::log(figure.ratio.value) < 0;
}

void judge_figure(FigureDiff& figure, Direction direction, double tolerance) {
  figure.verdict = judge(figure.ratio, direction, tolerance);
  figure.regressed = is_regression(figure.ratio, direction, tolerance);
  // Nobody is to read "slower" next to a figure that became better.
  const bool changed = figure.verdict == Verdict::kSlower || figure.verdict == Verdict::kFaster;
  if (!changed || !disagree(figure)) return;
  figure.verdict = Verdict::kCannotTell;
  figure.regressed = false;
}

Change change_of(const FigureDiff& latency, const FigureDiff& throughput) {
  const auto either = [&](Verdict verdict) {
    return latency.verdict == verdict || throughput.verdict == verdict;
  };
  if (latency.regressed || throughput.regressed) return Change::kRegressed;
  if (either(Verdict::kSlower)) return Change::kSlower;
  if (either(Verdict::kFaster)) return Change::kFaster;
  return either(Verdict::kCannotTell) ? Change::kCannotTell : Change::kSame;
}

/// `machine`: how many times slower it was in b.
PlanDiff diff_plan(const results::TrialRecord& a, const results::TrialRecord& b, Compare compare,
                   double machine, double tolerance) {
  PlanDiff diff{.a = &a, .b = &b};
  diff.latency = {
      a.latency.p50_ms, b.latency.p50_ms, a.latency.window, b.latency.window,
      allow_for(compare(latency_figures(a.rounds), latency_figures(b.rounds)), 1 / machine)};
  diff.throughput = {a.throughput.samples_per_s, b.throughput.samples_per_s, a.throughput.window,
                     b.throughput.window,
                     allow_for(compare(throughput_figures(a.rounds, a.batch),
                                       throughput_figures(b.rounds, b.batch)),
                               machine)};
  const auto any = [&](auto believed) { return believed(a) || believed(b); };
  let_agree(diff.latency, any([](const results::TrialRecord& trial) {
              return is_believed(trial.latency.p50_ms, trial.latency.measured_p50_ms);
            }));
  let_agree(diff.throughput, any([](const results::TrialRecord& trial) {
              return is_believed(trial.throughput.samples_per_s, trial.throughput.measured_per_s);
            }));
  judge_figure(diff.latency, Direction::kSmallerIsBetter, tolerance);
  judge_figure(diff.throughput, Direction::kLargerIsBetter, tolerance);
  diff.change = change_of(diff.latency, diff.throughput);
  return diff;
}

/// Returns the larger of the two changes, whichever way.
double size_of(const PlanDiff& diff) {
  return std::max(std::abs(std::log(diff.latency.ratio.value)),
                  std::abs(std::log(diff.throughput.ratio.value)));
}

void sort_plans(std::vector<PlanDiff>& plans) {
  std::ranges::stable_sort(plans, [](const PlanDiff& left, const PlanDiff& right) {
    if (left.change != right.change) return left.change < right.change;
    return size_of(left) > size_of(right);
  });
}

/// Returns the plans of `run` that were measured there and have no figures in `other`.
std::vector<LonePlan> lone_plans(const results::RunRecord& run, const results::RunRecord& other) {
  std::vector<LonePlan> lone;
  for (const results::TrialRecord& trial : run.trials) {
    if (!is_measured(trial)) continue;
    const results::TrialRecord* const match = find_plan(other, trial);
    if (match == nullptr) {
      lone.push_back({&trial, ""});
    } else if (!is_measured(*match)) {
      // What was skipped there was not tried.
      const bool failed = match->status == results::TrialStatus::kFailed;
      lone.push_back({&trial, failed ? match->failure : ""});
    }
  }
  return lone;
}

/// One of the things that tell plans apart.
struct Dimension {
  const char* name;
  std::string (*value)(const results::TrialRecord&);
};
constexpr std::array kDimensions{
    Dimension{"network", [](const results::TrialRecord& trial) { return trial.condition; }},
    Dimension{"transport", [](const results::TrialRecord& trial) { return trial.transport; }},
    Dimension{"batch",
              [](const results::TrialRecord& trial) { return std::to_string(trial.batch); }},
    Dimension{"codec", [](const results::TrialRecord& trial) { return trial.codec; }},
    Dimension{
        "devices",
        [](const results::TrialRecord& trial) { return join(trial.plan.device_names(), " and "); }},
};

/// Returns "transport shm in A and tcp in B" for each dimension that two runs have no value in
/// common of; if there is none, that they measured other cuts.
std::string why_none_is_common(const results::RunRecord& a, const results::RunRecord& b) {
  const auto values = [](const results::RunRecord& run, const Dimension& dimension) {
    std::set<std::string> all;
    for (const results::TrialRecord& trial : run.trials) {
      if (is_measured(trial)) all.insert(dimension.value(trial));
    }
    return std::vector<std::string>(all.begin(), all.end());
  };
  std::vector<std::string> reasons;
  for (const Dimension& dimension : kDimensions) {
    const std::vector<std::string> in_a = values(a, dimension);
    const std::vector<std::string> in_b = values(b, dimension);
    if (in_a.empty()) return "A measured none";
    if (in_b.empty()) return "B measured none";
    if (std::ranges::find_first_of(in_a, in_b) != in_a.end()) continue;
    reasons.push_back(
        fmt::format("{} {} in A and {} in B", dimension.name, join(in_a), join(in_b)));
  }
  if (!reasons.empty()) return join(reasons, "; ");
  return "each measured other cuts (an adaptive sweep measures some only; sweep --plans measures "
         "those that you name)";
}

Expected<const results::TrialRecord*> find_trial(const results::RunRecord& run,
                                                 const std::string& id) {
  const auto found = std::ranges::find(run.trials, id, &results::TrialRecord::id);
  if (found == run.trials.end()) {
    std::vector<std::string> ids;
    for (const results::TrialRecord& trial : run.trials) ids.push_back(trial.id);
    return fail(ErrorCode::kNotFound, "run {} has no plan \"{}\"{}", run.id, id,
                did_you_mean(id, ids));
  }
  if (!is_measured(*found)) {
    return fail(ErrorCode::kInvalidArgument, "run {}: {} was not measured{}{}", run.id, id,
                found->failure.empty() ? "" : ": ", found->failure);
  }
  return &*found;
}

}  // namespace

std::string_view to_string(Change change) {
  switch (change) {
    case Change::kRegressed:
      return "regressed";
    case Change::kSlower:
      return "slower";
    case Change::kFaster:
      return "faster";
    case Change::kSame:
      return "same";
    case Change::kCannotTell:
      break;
  }
  return "can't tell";
}

std::size_t RunDiff::count(Change change) const {
  return static_cast<std::size_t>(std::ranges::count(plans, change, &PlanDiff::change));
}

std::size_t RunDiff::regressions() const {
  const auto broken =
      std::ranges::count_if(only_in_a, [](const LonePlan& plan) { return !plan.failure.empty(); });
  return count(Change::kRegressed) + static_cast<std::size_t>(broken);
}

Expected<RunDiff> diff_runs(const results::RunRecord& a, const results::RunRecord& b,
                            double tolerance) {
  RunDiff diff{.tolerance = tolerance};
  PARETO_ASSIGN(diff.warnings, compare_settings(a, b));
  diff.machine = machine_ratio(a, b);
  for (const results::TrialRecord& trial : a.trials) {
    const results::TrialRecord* const other = find_plan(b, trial);
    if (other == nullptr || !is_measured(trial) || !is_measured(*other)) continue;
    diff.plans.push_back(diff_plan(trial, *other, unpaired_ratio, diff.machine.value, tolerance));
  }
  diff.only_in_a = lone_plans(a, b);
  diff.only_in_b = lone_plans(b, a);
  if (diff.plans.empty() && diff.regressions() == 0) {
    return fail(ErrorCode::kInvalidArgument,
                "runs {} and {} cannot be compared: no plan was measured in both: {}", a.id, b.id,
                why_none_is_common(a, b));
  }
  sort_plans(diff.plans);
  return diff;
}

Expected<RunDiff> diff_trials(const results::RunRecord& run, const std::string& id_a,
                              const std::string& id_b, double tolerance) {
  PARETO_ASSIGN(const results::TrialRecord* const a, find_trial(run, id_a));
  PARETO_ASSIGN(const results::TrialRecord* const b, find_trial(run, id_b));
  RunDiff diff{.tolerance = tolerance};
  if (a->batch != b->batch) {
    diff.warnings.push_back(fmt::format("batch: {} in A, {} in B", a->batch, b->batch));
  }
  if (a->condition != b->condition) {
    diff.warnings.push_back(fmt::format("network: {} in A, {} in B", a->condition, b->condition));
  }
  diff.plans.push_back(diff_plan(*a, *b, paired_ratio, 1, tolerance));
  if (diff.plans.back().latency.ratio.rounds_a == 0 &&
      diff.plans.back().throughput.ratio.rounds_a == 0) {
    return fail(
        ErrorCode::kInvalidArgument,
        "{} and {} were never measured in the same round, as an adaptive sweep leaves them: "
        "measure them side by side, with sweep --exhaustive or sweep --plans",
        id_a, id_b);
  }
  return diff;
}

}  // namespace pareto::statistics
