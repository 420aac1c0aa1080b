#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "client/report/network_table.h"
#include "client/report/objective_text.h"
#include "client/report/plan_text.h"
#include "client/report/text_table.h"
#include "client/report/writers.h"
#include "coordinator/results/best_by_network.h"
#include "coordinator/results/disturbances.h"
#include "coordinator/results/front_chance.h"
#include "coordinator/results/max_latency.h"
#include "coordinator/results/prediction_error.h"
#include "coordinator/results/record_json.h"
#include "coordinator/results/share_within.h"
#include "coordinator/results/time_spent.h"
#include "core/base/counted.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

using Trials = std::vector<const results::TrialRecord*>;

bool is_ok(const results::TrialRecord& trial) { return results::status_of(trial) == "ok"; }

/// The objectives that a front is of, other than those that have columns always.
using Axes = std::vector<results::ObjectiveRecord>;

Axes other_axes(const results::RunRecord& run) {
  Axes axes;
  for (const results::ObjectiveRecord& one : run.objectives) {
    const bool has_column =
        one.name == "latency" || one.name == "throughput" || one.name == "latency_p90";
    if (!has_column && std::ranges::find(run.axes, one.name) != run.axes.end()) axes.push_back(one);
  }
  return axes;
}

double figure_of(const results::TrialRecord& trial, const std::string& objective) {
  const auto found =
      std::ranges::find(trial.objectives, objective, &results::ObjectiveFigure::name);
  return found == trial.objectives.end() ? std::nan("") : found->value;
}

TextTable figures_table(const std::string& first_title, const Axes& axes) {
  constexpr std::size_t kLatency = 2;
  constexpr std::size_t kThroughput = 7;
  std::vector<TextColumn> columns{{first_title, Align::kLeft, 0},
                                  {"transport", Align::kLeft, 0, "", {}, true},
                                  {"p50 ms", Align::kRight, 0},
                                  {"95 %", Align::kLeft, 4, "95 % of p50 ms"},
                                  {"W", Align::kRight, 3, "W of p50 ms", {}, true},
                                  {"measured", Align::kRight, 7, "measured ms", kLatency},
                                  {"p90 ms", Align::kRight, 8},
                                  {"samples/s", Align::kRight, 0},
                                  {"95 %", Align::kLeft, 5, "95 % of samples/s"},
                                  {"W", Align::kRight, 3, "W of samples/s"},
                                  {"measured", Align::kRight, 7, "measured /s", kThroughput},
                                  {"rounds", Align::kRight, 3, "", {}, true},
                                  {"boundary", Align::kRight, 6},
                                  {"compute", Align::kRight, 9},
                                  {"transfer", Align::kRight, 9},
                                  {"rest", Align::kRight, 9},
                                  {"error", Align::kRight, 8},
                                  {"engines", Align::kLeft, 10, "", {}, true},
                                  {"p(front)", Align::kRight, 2}};
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

/// Returns "prepacked bf16, onednn fp32": what runs each stage, once if all are alike.
std::string engines_of(const results::TrialRecord& trial) {
  std::vector<std::string> engines;
  for (const results::StageFigures& stage : trial.stages) {
    engines.push_back(stage.engine + (stage.precision.empty() ? "" : " " + stage.precision));
  }
  if (std::ranges::count(engines, engines.empty() ? "" : engines.front()) == std::ssize(engines)) {
    engines.resize(std::min<std::size_t>(engines.size(), 1));
  }
  return engines.empty() ? "-" : join(engines);
}

void add_figures(TextTable& table, const results::TrialRecord& trial, const Axes& axes,
                 const std::string& mark, RowStyle style) {
  std::vector<std::string> cells{
      mark + plan_name(trial),
      link_of(trial),
      format_figure(trial.latency.p50_ms),
      format_interval(trial.latency.ci95_ms),
      fmt::format("{}", trial.latency.window),
      format_figure(trial.latency.measured_p50_ms),
      format_figure(trial.latency.p90_ms),
      format_figure(trial.throughput.samples_per_s),
      format_interval(trial.throughput.ci95),
      fmt::format("{}", trial.throughput.window),
      format_figure(trial.throughput.measured_per_s),
      fmt::format("{}", trial.rounds.size()),
      boundary_of(trial),
      format_figure(trial.time_split.compute_ms),
      format_figure(trial.time_split.transfer_ms),
      rest_text(trial.time_split),
      trial.output_error ? fmt::format("{:.1e}", trial.output_error->max) : "-",
      engines_of(trial),
      results::chance_text(trial)};
  for (const results::ObjectiveRecord& one : axes)
    cells.push_back(objective_text(figure_of(trial, one.name), one.unit));
  table.add(std::move(cells), style);
}

std::string heading(const std::string& text, const ReportStyle& style) {
  return style.colour ? "\x1b[1m" + text + "\x1b[0m\n" : text + "\n";
}

/// `several`: the run has plans on more than one network, and "none" is one of them.
std::string group_name(std::int64_t batch, const std::string& condition, bool several) {
  std::string name = fmt::format("batch {}", batch);
  if (condition != "none") name += ", " + condition;
  if (condition == "none" && several) name += ", network none";
  return name;
}

/// Writes everything in the order of the run, with what is on the front marked; then the front in
/// the order of its first objective.
std::string write_group(const std::string& name, const Trials& trials,
                        const results::RunRecord& run, const ReportStyle& style) {
  Trials front;
  std::ranges::copy_if(trials, std::back_inserter(front),
                       [](const results::TrialRecord* trial) { return trial->on_front; });
  const Axes axes = other_axes(run);
  // In the order of the first objective, the best plan first.
  const std::string first = run.axes.empty() ? "latency" : run.axes.front();
  const double sign = first == "throughput" ? -1 : 1;
  std::ranges::stable_sort(front, {}, [&](const auto* trial) {
    return first == "latency" ? trial->latency.p50_ms : sign * figure_of(*trial, first);
  });
  TextTable best = figures_table("plan", axes);
  for (const results::TrialRecord* trial : front) {
    add_figures(best, *trial, axes, "", RowStyle::kPlain);
  }
  TextTable all = figures_table("  plan", axes);
  for (const results::TrialRecord* trial : trials) {
    add_figures(all, *trial, axes, trial->on_front ? "* " : "  ",
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

/// Returns a line on the most productive plan that is quick enough for `sweep --max-latency`.
std::string write_within(const std::string& name, const Trials& trials, double most_ms) {
  const results::TrialRecord* best = nullptr;
  for (const results::TrialRecord* trial : trials) {
    if (trial->latency.p50_ms > most_ms) continue;
    if (best == nullptr || trial->throughput.samples_per_s > best->throughput.samples_per_s) {
      best = trial;
    }
  }
  const std::string within = fmt::format("within {:.4g} ms, {}", most_ms, name);
  if (best == nullptr) return fmt::format("{}: no plan is as quick\n\n", within);
  return fmt::format("{}: {} over {} has the highest throughput: {} samples/s at {} ms\n\n", within,
                     plan_name(*best), link_of(*best),
                     format_figure(best->throughput.samples_per_s),
                     format_figure(best->latency.p50_ms));
}

std::string write_failures(const results::RunRecord& run, const ReportStyle& style) {
  std::string text;
  for (const results::TrialRecord& trial : run.trials) {
    if (trial.status != results::TrialStatus::kFailed) continue;
    text += styled(fmt::format("failed: {}: {}", trial.id, trial.failure), RowStyle::kBad, style) +
            "\n";
  }
  std::map<std::string, std::size_t> skipped;
  for (const results::TrialRecord& trial : run.trials) {
    if (trial.status == results::TrialStatus::kSkipped) ++skipped[trial.failure];
  }
  for (const auto& [why, plans] : skipped) {
    text +=
        styled(fmt::format("skipped: {} of {}: {}", plans, counted(run.trials.size(), "plan"), why),
               RowStyle::kBad, style) +
        "\n";
  }
  const auto planned = std::ranges::count_if(run.trials, [](const results::TrialRecord& trial) {
    return results::status_of(trial) == "planned";
  });
  if (planned > 0)
    text += fmt::format("not measured: {} of {}\n", planned, counted(run.trials.size(), "plan"));
  return text;
}

std::string short_percent(double share) {
  return share < 0.1 ? fmt::format("{:.2g} %", 100 * share) : fmt::format("{:.0f} %", 100 * share);
}

/// Expected of a plan that was not measured, "10.2 +- 4 %".
std::string expected_of(double figure, double deviation) {
  return fmt::format("{} +- {}", format_figure(figure), short_percent(deviation));
}

/// Counts the plans that were predicted only: "11 of 21 plans were predicted only, 1 of them may be
/// on the front". If predictions are no guide they say nothing of how many: `unguided` of `all`.
std::string predicted_line(std::size_t all, std::size_t planned, std::size_t near,
                           std::size_t unguided) {
  std::string text = fmt::format("{} of {} plans were predicted only", all, planned);
  if (unguided < all) text += fmt::format(", {} of them may be on the front", near);
  if (unguided == 0) return text + "\n";
  return text +
         (unguided < all
              ? fmt::format(", and any of {} more where predictions are no guide", unguided)
              : "; any of them may be on the front: predictions are no guide") +
         " (see below)\n";
}

/// Lists those that by predictions that are a guide may be on the front, the likeliest first.
std::string write_predicted(const results::RunRecord& run, const ReportStyle& style) {
  std::set<std::pair<std::int64_t, std::string>> misled;
  for (const results::PredictionError& error : results::prediction_errors(run)) {
    if (results::is_no_guide(error)) misled.emplace(error.batch, error.condition);
  }
  Trials unmeasured;
  Trials near;
  std::size_t unguided = 0;
  for (const results::TrialRecord& trial : run.trials) {
    if (results::status_of(trial) != "predicted") continue;
    unmeasured.push_back(&trial);
    if (misled.contains({trial.batch, trial.condition})) {
      ++unguided;
    } else if (trial.p_front > results::kLeastChance) {
      near.push_back(&trial);
    }
  }
  if (unmeasured.empty()) return {};
  std::string text;
  if (!results::is_adaptive(run))
    return fmt::format("not measured yet: {}\n", counted(unmeasured.size(), "plan"));
  if (!near.empty()) {
    std::ranges::stable_sort(near, std::ranges::greater{}, &results::TrialRecord::p_front);
    TextTable table({{"plan", Align::kLeft, 0},
                     {"transport", Align::kLeft, 0},
                     {"batch", Align::kRight, 2},
                     {"network", Align::kLeft, 3},
                     {"expected ms", Align::kRight, 0},
                     {"expected /s", Align::kRight, 0},
                     {"p(front)", Align::kRight, 1}});
    for (const results::TrialRecord* trial : near) {
      const results::Prediction& known = *trial->prediction;
      table.add({plan_name(*trial), link_of(*trial), fmt::format("{}", trial->batch),
                 trial->condition, expected_of(known.expected_latency_ms, known.latency_deviation),
                 expected_of(known.expected_samples_per_s, known.throughput_deviation),
                 results::chance_text(*trial)},
                RowStyle::kPlain);
    }
    text += heading("Not measured, but perhaps on the front (+- one standard deviation)", style) +
            table.render(style) + "\n";
  }
  return text + predicted_line(unmeasured.size(), run.trials.size(), near.size(), unguided) +
         fmt::format("(every plan, and what is expected of it: paretoctl export {} --csv)\n",
                     run.id);
}

std::string write_prediction_errors(const results::RunRecord& run, const ReportStyle& style) {
  const std::vector<results::PredictionError> errors = results::prediction_errors(run);
  if (errors.empty()) return {};
  TextTable table({{"batch", Align::kRight, 1},
                   {"network", Align::kLeft, 2},
                   {"plans", Align::kRight, 0},
                   {"ms off by", Align::kRight, 0},
                   {"95 %", Align::kRight, 0},
                   {"order", Align::kRight, 3, "order by ms"},
                   {"if apart", Align::kRight, 4, "order by ms if apart"},
                   {"/s off by", Align::kRight, 0},
                   {"95 %", Align::kRight, 0},
                   {"order", Align::kRight, 3, "order by /s"},
                   {"if apart", Align::kRight, 4, "order by /s if apart"}});
  for (const results::PredictionError& error : errors) {
    std::vector<std::string> cells{fmt::format("{}", error.batch), error.condition,
                                   fmt::format("{}", error.trials)};
    for (const results::FigureError& figure : {error.latency, error.throughput}) {
      cells.insert(cells.end(), {short_percent(figure.median), short_percent(figure.p95),
                                 fmt::format("{:.2f}", figure.kendall_tau),
                                 fmt::format("{:.2f}", figure.kendall_tau_apart)});
    }
    table.add(std::move(cells), RowStyle::kPlain);
  }
  std::string misled;
  for (const results::PredictionError& error : errors) {
    if (!results::is_no_guide(error)) continue;
    misled += styled(fmt::format("{}: predictions are no guide here{}",
                                 group_name(error.batch, error.condition, errors.size() > 1),
                                 results::is_adaptive(run)
                                     ? ": any plan that was predicted only may be on "
                                       "the front; sweep --exhaustive measures all"
                                     : ""),
                     RowStyle::kWarning, style) +
              "\n";
  }
  return heading(fmt::format(
                     "Predictions against what was measured (medians; order: Kendall's tau, "
                     "of all plans that rounds tell apart and of those more than {:.0f} % apart)",
                     100 * results::kFrontTolerance),
                 style) +
         table.render(style) + misled + "\n";
}

/// Writes where the time went; nothing of runs of versions that did not keep it.
std::string write_time(const results::RunRecord& run) {
  const results::TimeSpent spent = results::time_spent(run);
  if (spent.total_s <= 0) return {};
  const auto share = [&](double seconds) {
    return fmt::format("{:.1f} %", 100 * seconds / spent.total_s);
  };
  const bool predicted = std::ranges::any_of(
      run.trials, [](const results::TrialRecord& trial) { return trial.prediction.has_value(); });
  std::string text = fmt::format("time{}: {:.0f} s, {} without a request on its way",
                                 predicted ? " after profiling" : "", spent.total_s,
                                 share(results::dead_share(spent) * spent.total_s));
  if (spent.requests > 0) text += "; " + counted(spent.requests, "request");
  text += "\n";
  text += fmt::format("  measuring {}, sentinel {}, loading shards {},\n", share(spent.measuring_s),
                      share(spent.sentinel_s), share(spent.loading_s));
  text += "  ";
  // Less would read as 0.0 %.
  if (spent.network_s >= 0.0005 * spent.total_s) {
    text += fmt::format("networks {}, ", share(spent.network_s));
  }
  text += fmt::format("opening {} {}", counted(spent.openings_ms.size(), "pipeline"),
                      share(spent.opening_s));
  if (!spent.openings_ms.empty()) {
    text +=
        fmt::format(" (p95 {} ms)", format_figure(results::share_within(spent.openings_ms, 0.95)));
  }
  return text + "\n";
}

/// Writes a line for each device that did not compute every stage in the precision asked for.
std::string write_precisions(const results::RunRecord& run, const ReportStyle& style) {
  struct Found {
    std::size_t stages = 0;
    std::size_t others = 0;
    std::string first;
  };
  std::map<std::string, Found> devices;
  for (const results::TrialRecord& trial : run.trials) {
    for (const results::StageFigures& stage : trial.stages) {
      Found& found = devices[stage.device];
      ++found.stages;
      if (stage.precision_reason.empty() || found.others++ > 0) continue;
      found.first = fmt::format("of {}: {} computes it in {}, because {}", plan_name(trial),
                                stage.engine, stage.precision, stage.precision_reason);
    }
  }
  std::string text;
  for (const auto& [device, found] : devices) {
    if (found.others == 0) continue;
    text += styled(fmt::format("{}: {} of {} stages are not in the precision asked for; that {} "
                               "(--max-error)",
                               device, found.others, found.stages, found.first),
                   RowStyle::kWarning, style) +
            "\n";
  }
  return text;
}

/// Writes a line for each thing that made figures vary.
std::string write_disturbances(const results::RunRecord& run, const ReportStyle& style) {
  std::string text;
  for (const results::Disturbance& one : results::disturbances(run)) {
    text += styled(fmt::format("{}: {}", one.where, one.text), RowStyle::kWarning, style) + "\n";
  }
  return text;
}

class TableWriter final : public ReportWriter {
 public:
  std::string_view name() const override { return "table"; }
  std::string_view summary() const override { return "the front and everything, to read"; }
  Expected<std::string> write(const results::RunRecord& run,
                              const ReportStyle& style) const override {
    std::map<std::pair<std::int64_t, std::string>, Trials> groups;
    for (const results::TrialRecord& trial : run.trials) {
      if (is_ok(trial)) groups[{trial.batch, trial.condition}].push_back(&trial);
    }
    std::string text;
    const std::optional<double> most_ms = results::max_latency_ms(run);
    const bool several = std::ranges::any_of(run.trials, [&](const results::TrialRecord& trial) {
      return trial.condition != run.trials.front().condition;
    });
    // In the order of the table of networks.
    for (const results::NetworkBest& at : results::best_by_network(run)) {
      const auto found = groups.find({at.batch, at.condition});
      if (found == groups.end()) continue;
      const std::string name = group_name(at.batch, at.condition, several);
      text += write_group(name, found->second, run, style);
      if (most_ms) text += write_within(name, found->second, *most_ms);
    }
    text += write_network_table(run, style);
    text += write_predicted(run, style);
    text += write_prediction_errors(run, style);
    text += write_failures(run, style);
    for (const results::DeviceRecord& device : run.devices) {
      text += fmt::format("{}: {} of weights sent ({} in the model)\n", device.name,
                          format_bytes(device.weights_sent_bytes),
                          format_bytes(run.model_weight_bytes));
    }
    text += write_precisions(run, style);
    text += write_time(run);
    text += write_disturbances(run, style);
    return text;
  }
};

}  // namespace

std::unique_ptr<ReportWriter> make_table_writer() { return std::make_unique<TableWriter>(); }

}  // namespace pareto::report
