#include <algorithm>
#include <cmath>
#include <utility>

#include "client/report/diff_writer.h"
#include "client/report/plan_text.h"
#include "client/report/text_table.h"
#include "coordinator/results/disturbances.h"
#include "core/base/text.h"
#include "core/plan/varied_settings.h"

namespace pareto::report {
namespace {

/// A machine that was this much faster or slower is worth a word.
constexpr double kMachineWord = 0.005;

/// The number of plans from which chance is likely to show. Each plan has two intervals whose worse
/// end is beyond 1 by chance in up to one of forty, so among this many one is expected.
constexpr std::size_t kManyPlans = 10;

/// Returns "2 %", "0.5 %".
std::string gain_percent(double share) { return fmt::format("{:g} %", share * 100); }

/// Returns "0.931 [0.88, 0.98]"; of the ratio alone where nothing is known of its error.
std::string ratio_text(const statistics::Ratio& ratio) {
  if (!ratio.ci975) return fmt::format("{:.3f}", ratio.value);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", ratio.value, ratio.ci975->low, ratio.ci975->high);
}

std::string figures_text(const statistics::FigureDiff& figure) {
  return format_figure(figure.a) + " → " + format_figure(figure.b);
}

std::string windows_text(const statistics::FigureDiff& figure) {
  if (figure.window_a == figure.window_b) return std::to_string(figure.window_a);
  return fmt::format("{} → {}", figure.window_a, figure.window_b);
}

std::string verdict_text(const statistics::FigureDiff& figure) {
  return figure.regressed ? "REGRESSED" : std::string(to_string(figure.verdict));
}

RowStyle style_for(statistics::Change change) {
  switch (change) {
    case statistics::Change::kRegressed:
      return RowStyle::kBad;
    case statistics::Change::kFaster:
      return RowStyle::kStrong;
    case statistics::Change::kSame:
      return RowStyle::kFaint;
    case statistics::Change::kSlower:
    case statistics::Change::kCannotTell:
      break;
  }
  return RowStyle::kPlain;
}

std::string side_text(char letter, const results::RunRecord& run) {
  return fmt::format("{}: run {} of {}, {}, pareto-edge {}\n", letter, run.id, run.model,
                     run.started, run.software_version);
}

/// Returns a line for each thing that made the figures of a side vary.
std::string disturbances_text(const char* side, const results::RunRecord& run,
                              const ReportStyle& style) {
  std::string text;
  for (const results::Disturbance& one : results::disturbances(run)) {
    text +=
        styled(fmt::format("{}: {}: {}", side, one.where, one.text), RowStyle::kWarning, style) +
        "\n";
  }
  return text;
}

std::string table_text(const statistics::RunDiff& diff, const ReportStyle& style) {
  TextTable table({{"plan"},
                   {"setting", Align::kLeft},
                   {"p50 ms", Align::kRight, 2},
                   {"B/A 97.5 %"},
                   {"latency"},
                   {"samples/s", Align::kRight, 2},
                   {"W", Align::kRight, 2},
                   {"B/A 97.5 %"},
                   {"throughput"}});
  std::vector<const plan::Plan*> plans;
  for (const statistics::PlanDiff& plan : diff.plans) plans.push_back(&plan.b->plan);
  const plan::VariedSettings varied(plans);
  for (const statistics::PlanDiff& plan : diff.plans) {
    std::string setting = setting_of(*plan.b);
    if (varied.any()) setting += ", " + varied.sentence(plan.b->plan);
    table.add({plan_name(*plan.b), std::move(setting), figures_text(plan.latency),
               ratio_text(plan.latency.ratio), verdict_text(plan.latency),
               figures_text(plan.throughput), windows_text(plan.throughput),
               ratio_text(plan.throughput.ratio), verdict_text(plan.throughput)},
              style_for(plan.change));
  }
  return table.render(style) + "\n";
}

std::string lone_text(const char* here, const char* there,
                      const std::vector<statistics::LonePlan>& plans, bool is_worse,
                      const ReportStyle& style) {
  std::string text;
  for (const statistics::LonePlan& plan : plans) {
    const bool failed = !plan.failure.empty();
    std::string line = fmt::format("only in {}: {}", here, plan.trial->id);
    if (failed) line += fmt::format(" (failed in {}: {})", there, plan.failure);
    text += styled(line, failed && is_worse ? RowStyle::kBad : RowStyle::kPlain, style) + "\n";
  }
  return text;
}

/// Returns what B/A is the ratio of. Its value may differ from the quotient of the figures shown.
std::string ratio_note(const statistics::RunDiff& diff) {
  const auto of_figures = [](const statistics::PlanDiff& plan) {
    return plan.latency.ratio.a == plan.latency.a && plan.latency.ratio.b == plan.latency.b;
  };
  const statistics::PlanDiff& first = diff.plans.front();
  const std::string example =
      fmt::format(" ({} → {} for p50 ms of the first row)", format_figure(first.latency.ratio.a),
                  format_figure(first.latency.ratio.b));
  if (first.latency.ratio.paired) {
    return "B/A: the geometric mean of the ratios in each round that both have" + example + ".\n";
  }
  if (std::ranges::all_of(diff.plans, of_figures)) return "B/A: the ratio of these figures.\n";
  return "B/A: the ratio of the geometric means of the rounds" + example +
         "; of a plan of an adaptive sweep, the ratio of its figures.\n";
}

/// Returns what the reader of the table has to know of its intervals.
std::string note_of(const statistics::RunDiff& diff) {
  if (diff.plans.empty()) return "";
  std::string note =
      "p50 ms and samples/s: A → B, as the runs show them.\n" + ratio_note(diff) +
      fmt::format("Each figure is judged at 97.5 %: {} called different where nothing changed.\n",
                  diff.plans.size() == 1 ? "in up to one of twenty comparisons a plan is"
                                         : fmt::format("of these {} plans, up to one in twenty is",
                                                       diff.plans.size()));
  if (std::abs(std::log(diff.machine.value)) > kMachineWord) {
    note += fmt::format(
        "The fixed loop next to the reference plan, which only computes, took {:.3f} times as long "
        "in B. Intervals are stretched to hold the ratio with and without that.\n",
        diff.machine.value);
  }
  if (diff.plans.size() > kManyPlans && diff.count(statistics::Change::kRegressed) > 0 &&
      diff.count(statistics::Change::kRegressed) <= diff.plans.size() / kManyPlans) {
    note += "With this many plans, so few may have regressed by chance: measure again.\n";
  }
  if (diff.count(statistics::Change::kCannotTell) > 0) {
    note +=
        "can't tell: the interval holds both a change and none; more rounds narrow it (sweep "
        "--rounds).\n";
  }
  return note;
}

}  // namespace

std::string summary_of(const statistics::RunDiff& diff) {
  std::vector<std::string> parts;
  const auto add = [&](statistics::Change change, const std::string& words) {
    const std::size_t count = diff.count(change);
    if (count > 0) parts.push_back(fmt::format("{} {}", count, words));
  };
  add(statistics::Change::kRegressed, "regressed by more than " + gain_percent(diff.tolerance));
  add(statistics::Change::kSlower, "slower");
  add(statistics::Change::kFaster, "faster");
  add(statistics::Change::kCannotTell, "can't tell");
  add(statistics::Change::kSame, "the same within " + gain_percent(diff.tolerance));
  const std::size_t broken = diff.regressions() - diff.count(statistics::Change::kRegressed);
  if (broken > 0) parts.push_back(fmt::format("{} failed in B", broken));
  std::string text = fmt::format("{} plan{} compared: {}", diff.plans.size(),
                                 diff.plans.size() == 1 ? "" : "s", join(parts));
  if (diff.only_in_a.size() > broken) {
    text += fmt::format("; {} only in A", diff.only_in_a.size() - broken);
  }
  if (!diff.only_in_b.empty()) text += fmt::format("; {} only in B", diff.only_in_b.size());
  return text;
}

std::string write_diff_table(const DiffSides& sides, const statistics::RunDiff& diff,
                             const ReportStyle& style) {
  std::string text;
  if (&sides.a != &sides.b) {
    text = side_text('A', sides.a) + side_text('B', sides.b);
  } else if (!diff.plans.empty()) {
    text = side_text('A', sides.a);
    text.replace(0, 1, "A and B");
    text += fmt::format("A: {}\nB: {}\n", diff.plans.front().a->id, diff.plans.front().b->id);
  }
  if (&sides.a != &sides.b) {
    text += disturbances_text("A", sides.a, style) + disturbances_text("B", sides.b, style);
  } else {
    text += disturbances_text("A and B", sides.a, style);
  }
  for (const std::string& warning : diff.warnings) {
    text += styled("not the same: " + warning, RowStyle::kBad, style) + "\n";
  }
  text += "\n";
  if (!diff.plans.empty()) text += table_text(diff, style);
  text += lone_text("A", "B", diff.only_in_a, true, style);
  text += lone_text("B", "A", diff.only_in_b, false, style);
  text += note_of(diff);
  return text + summary_of(diff) + "\n";
}

}  // namespace pareto::report
