#include "client/report/predicted_table.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "client/report/group_table.h"
#include "client/report/plan_text.h"
#include "client/report/text_table.h"
#include "coordinator/results/front_chance.h"
#include "coordinator/results/prediction_error.h"
#include "coordinator/results/prediction_guide.h"
#include "coordinator/results/record_json.h"
#include "coordinator/results/varied_settings.h"
#include "core/base/counted.h"

namespace pareto::report {
namespace {

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

/// Names the batches and networks whose predictions are no guide, a line each. Of plans that were
/// not measured it says what that means, if there are any.
std::string unguided_lines(const results::RunRecord& run, const ReportStyle& style) {
  std::set<results::GroupKey> unmeasured;
  for (const results::TrialRecord& trial : run.trials) {
    if (results::is_predicted_only(trial)) unmeasured.emplace(trial.batch, trial.condition);
  }
  const auto guides = results::prediction_guides(run.trials);
  std::string text;
  for (const auto& [key, guide] : guides) {
    const bool left_open = !guide.guides && results::is_adaptive(run) && unmeasured.contains(key);
    if (!left_open && !guide.breaks_latencies && !guide.breaks_throughputs) continue;
    const std::string name = group_name(key.first, key.second, guides.size() > 1);
    text += styled(name + ": predictions are no guide here" +
                       (left_open ? ": any plan that was predicted only may be on the front; "
                                    "sweep --exhaustive measures all"
                                  : ""),
                   RowStyle::kWarning, style) +
            "\n";
  }
  return text;
}

}  // namespace

std::string write_predicted(const results::RunRecord& run, const ReportStyle& style) {
  const auto guides = results::prediction_guides(run.trials);
  Trials unmeasured;
  Trials near;
  std::size_t unguided = 0;
  for (const results::TrialRecord& trial : run.trials) {
    if (!results::is_predicted_only(trial)) continue;
    unmeasured.push_back(&trial);
    if (!guides.at({trial.batch, trial.condition}).guides) {
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
    const plan::VariedSettings varied = results::varied_settings(run);
    std::vector<TextColumn> columns{{"plan", Align::kLeft, 0}, {"transport", Align::kLeft, 0}};
    for (const std::string& name : varied.names()) columns.push_back({name, Align::kLeft, 0});
    columns.insert(columns.end(), {{"batch", Align::kRight, 2},
                                   {"network", Align::kLeft, 3},
                                   {"expected ms", Align::kRight, 0},
                                   {"expected /s", Align::kRight, 0},
                                   {"p(front)", Align::kRight, 1}});
    TextTable table(std::move(columns));
    for (const results::TrialRecord* trial : near) {
      const results::Prediction& known = *trial->prediction;
      std::vector<std::string> cells{plan_name(*trial), link_of(*trial)};
      for (std::string& setting : varied.texts(trial->plan)) {
        cells.push_back(std::move(setting));
      }
      cells.insert(cells.end(),
                   {fmt::format("{}", trial->batch), trial->condition,
                    expected_of(known.expected_latency_ms, known.latency_deviation),
                    expected_of(known.expected_samples_per_s, known.throughput_deviation),
                    results::chance_text(*trial)});
      table.add(std::move(cells), RowStyle::kPlain);
    }
    text += heading("Not measured, but perhaps on the front (+- one standard deviation)", style) +
            table.render(style) + "\n";
  }
  // Nobody knows how sure a front of chosen objectives is.
  text += run.axes.empty()
              ? predicted_line(unmeasured.size(), run.trials.size(), near.size(), unguided)
              : fmt::format("{} of {} plans were predicted only\n", unmeasured.size(),
                            run.trials.size());
  return text + fmt::format("(every plan, and what is expected of it: paretoctl export {} --csv)\n",
                            run.id);
}

std::string write_prediction_errors(const results::RunRecord& run, const ReportStyle& style) {
  const std::vector<results::PredictionError> errors = results::prediction_errors(run);
  const std::string unguided = unguided_lines(run, style);
  if (errors.empty()) return unguided.empty() ? "" : unguided + "\n";
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
  return heading(fmt::format(
                     "Predictions against what was measured (medians; order: Kendall's tau, "
                     "of all plans that rounds tell apart and of those more than {:.0f} % apart)",
                     100 * results::kFrontTolerance),
                 style) +
         table.render(style) + unguided + "\n";
}

}  // namespace pareto::report
