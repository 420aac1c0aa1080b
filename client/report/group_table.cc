#include "client/report/group_table.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "client/report/objective_text.h"
#include "client/report/plan_text.h"
#include "client/report/text_table.h"
#include "coordinator/results/front_chance.h"
#include "coordinator/results/varied_settings.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

/// The objectives that a front is of, other than those that have columns always.
using Axes = std::vector<results::ObjectiveRecord>;

Axes other_axes(const results::RunRecord& run) {
  Axes axes;
  for (const results::ObjectiveRecord& one : run.objectives) {
    const bool has_column =
        one.name == "latency" || one.name == "throughput" || one.name == "latency_p90";
    const bool is_chosen = std::ranges::find(run.axes, one.name) != run.axes.end();
    // Accuracy is known only if somebody named a data set.
    if (!has_column && (is_chosen || one.name == "accuracy")) axes.push_back(one);
  }
  return axes;
}

double figure_of(const results::TrialRecord& trial, const std::string& objective) {
  const auto found =
      std::ranges::find(trial.objectives, objective, &results::ObjectiveFigure::name);
  return found == trial.objectives.end() ? std::nan("") : found->value;
}

TextTable figures_table(const std::string& first_title, const plan::VariedSettings& varied,
                        const Axes& axes) {
  std::vector<TextColumn> columns{{first_title, Align::kLeft, 0},
                                  {"transport", Align::kLeft, 0, "", {}, true}};
  for (const std::string& name : varied.names()) {
    columns.push_back({name, Align::kLeft, 0, "", {}, true});
  }
  const std::size_t latency = columns.size();
  const std::size_t throughput = latency + 5;
  columns.insert(columns.end(), {{"p50 ms", Align::kRight, 0},
                                 {"95 %", Align::kLeft, 4, "95 % of p50 ms"},
                                 {"W", Align::kRight, 3, "W of p50 ms", {}, true},
                                 {"measured", Align::kRight, 7, "measured ms", latency},
                                 {"p90 ms", Align::kRight, 8},
                                 {"samples/s", Align::kRight, 0},
                                 {"95 %", Align::kLeft, 5, "95 % of samples/s"},
                                 {"W", Align::kRight, 3, "W of samples/s"},
                                 {"measured", Align::kRight, 7, "measured /s", throughput},
                                 {"rounds", Align::kRight, 3, "", {}, true},
                                 {"boundary", Align::kRight, 6},
                                 {"compute", Align::kRight, 9},
                                 {"transfer", Align::kRight, 9},
                                 {"rest", Align::kRight, 9},
                                 {"error", Align::kRight, 8},
                                 {"engines", Align::kLeft, 10, "", {}, true},
                                 {"p(front)", Align::kRight, 2}});
  for (const results::ObjectiveRecord& one : axes) {
    columns.push_back({objective_column(one.name, one.unit), Align::kRight, 0});
  }
  return TextTable(std::move(columns));
}

/// Returns "588 KiB", or "588 KiB > 147 KiB" where a codec made it smaller; of several cuts each:
/// "588 KiB + 98 KiB".
std::string boundary_of(const results::TrialRecord& trial) {
  if (!trial.split) return "-";
  std::vector<std::string> crossing;
  for (const results::CutRecord& cut : trial.split->cuts)
    crossing.push_back(format_bytes(cut.boundary_bytes));
  std::vector<std::string> travelled;
  for (std::size_t i = 1; i + 1 < trial.links.size(); ++i) {
    if (trial.links[i].wire_bytes > 0) travelled.push_back(format_bytes(trial.links[i].wire_bytes));
  }
  std::string text = join(crossing, " + ");
  if (trial.codec != "none" && !travelled.empty()) text += " > " + join(travelled, " + ");
  return text;
}

/// Returns "prepacked bf16, onednn fp32 mixed": what runs each stage and by which schedule, once if
/// all are alike.
std::string engines_of(const results::TrialRecord& trial) {
  std::vector<std::string> engines;
  for (const results::StageFigures& stage : trial.stages) {
    const bool in_order = stage.schedule.empty() || stage.schedule == plan::kSequential;
    engines.push_back(stage.engine + (stage.precision.empty() ? "" : " " + stage.precision) +
                      (in_order ? "" : " " + stage.schedule));
  }
  if (std::ranges::count(engines, engines.empty() ? "" : engines.front()) == std::ssize(engines)) {
    engines.resize(std::min<std::size_t>(engines.size(), 1));
  }
  return engines.empty() ? "-" : join(engines);
}

void add_figures(TextTable& table, const results::TrialRecord& trial,
                 const plan::VariedSettings& varied, const Axes& axes, const std::string& mark,
                 RowStyle style) {
  std::vector<std::string> cells{mark + plan_name(trial), link_of(trial)};
  for (std::string& text : varied.texts(trial.plan)) cells.push_back(std::move(text));
  cells.insert(
      cells.end(),
      {format_figure(trial.latency.p50_ms), format_interval(trial.latency.ci95_ms),
       fmt::format("{}", trial.latency.window), format_figure(trial.latency.measured_p50_ms),
       format_figure(trial.latency.p90_ms), format_figure(trial.throughput.samples_per_s),
       format_interval(trial.throughput.ci95), fmt::format("{}", trial.throughput.window),
       format_figure(trial.throughput.measured_per_s), fmt::format("{}", trial.rounds.size()),
       boundary_of(trial), format_figure(trial.time_split.compute_ms),
       format_figure(trial.time_split.transfer_ms), rest_text(trial.time_split),
       trial.output_error ? fmt::format("{:.1e}", trial.output_error->max) : "-", engines_of(trial),
       results::chance_text(trial)});
  for (const results::ObjectiveRecord& one : axes)
    cells.push_back(objective_text(figure_of(trial, one.name), one.unit));
  table.add(std::move(cells), style);
}

}  // namespace

std::string write_group(const std::string& name, const Trials& trials,
                        const results::RunRecord& run, const ReportStyle& style) {
  Trials front;
  std::ranges::copy_if(trials, std::back_inserter(front),
                       [](const results::TrialRecord* trial) { return trial->on_front; });
  const Axes axes = other_axes(run);
  const plan::VariedSettings varied = results::varied_settings(run);
  // In the order of the first objective, the best plan first.
  const std::string first = run.axes.empty() ? "latency" : run.axes.front();
  const double sign = first == "throughput" ? -1 : 1;
  std::ranges::stable_sort(front, {}, [&](const auto* trial) {
    return first == "latency" ? trial->latency.p50_ms : sign * figure_of(*trial, first);
  });
  TextTable best = figures_table("plan", varied, axes);
  for (const results::TrialRecord* trial : front) {
    add_figures(best, *trial, varied, axes, "", RowStyle::kPlain);
  }
  TextTable all = figures_table("  plan", varied, axes);
  for (const results::TrialRecord* trial : trials) {
    add_figures(all, *trial, varied, axes, trial->on_front ? "* " : "  ",
                trial->on_front ? RowStyle::kStrong : RowStyle::kPlain);
  }
  return heading(
             fmt::format("{}, {} (* on the front)",
                         trials.size() == 1 ? "The measured plan"
                                            : fmt::format("All {} measured plans", trials.size()),
                         name),
             style) +
         all.render(style) + "\n" +
         heading(fmt::format("Pareto front{}, {}: {} of {} (W: requests in flight)",
                             run.axes.empty() ? "" : " of " + join(run.axes), name, front.size(),
                             trials.size()),
                 style) +
         best.render(style) + "measured: medians of the rounds\n\n";
}

std::string write_within(const std::string& name, const Trials& trials,
                         const results::RunRecord& run, double most_ms) {
  const results::TrialRecord* best = nullptr;
  for (const results::TrialRecord* trial : trials) {
    if (trial->latency.p50_ms > most_ms) continue;
    if (best == nullptr || trial->throughput.samples_per_s > best->throughput.samples_per_s) {
      best = trial;
    }
  }
  const std::string within = fmt::format("within {:.4g} ms, {}", most_ms, name);
  if (best == nullptr) return fmt::format("{}: no plan is as quick\n\n", within);
  const std::string settings = results::varied_settings(run).sentence(best->plan);
  return fmt::format(
      "{}: {} over {}{} has the highest throughput: {} samples/s at {} ms\n\n", within,
      plan_name(*best), link_of(*best), settings.empty() ? "" : " (" + settings + ")",
      format_figure(best->throughput.samples_per_s), format_figure(best->latency.p50_ms));
}

}  // namespace pareto::report
