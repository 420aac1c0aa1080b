#include "client/report/accuracy_writer.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "client/report/plan_text.h"
#include "client/report/text_table.h"
#include "core/base/json_text.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

using nlohmann::ordered_json;
using statistics::Proportion;

std::string interval_in_percent(const Proportion& proportion) {
  const results::Interval interval = statistics::exact_interval(proportion);
  return fmt::format("[{:.2f}, {:.2f}]", 100 * interval.low, 100 * interval.high);
}

void add_proportion(std::vector<std::string>& cells, const std::optional<Proportion>& proportion) {
  cells.push_back(proportion ? percent_text(proportion->share()) : "");
  cells.push_back(proportion ? interval_in_percent(*proportion) : "");
}

std::string rate_text(std::int64_t samples, Nanoseconds time) {
  return format_figure(static_cast<double>(samples) / to_seconds(time));
}

std::vector<std::string> row_of(const std::string& what, std::int64_t samples,
                                const EvaluatedModel& model,
                                const std::optional<Proportion>& agrees) {
  std::vector<std::string> cells{what};
  add_proportion(cells, model.accuracy.top1);
  add_proportion(cells, model.accuracy.top5);
  add_proportion(cells, agrees);
  cells.push_back(rate_text(samples, model.time));
  return cells;
}

std::string bits_text(const Proportion& bits) {
  if (bits.count == bits.of) {
    return "bits        all samples have the uncut model's scores, bit for bit\n";
  }
  return fmt::format("bits        {} of {} samples have the uncut model's scores, bit for bit\n",
                     bits.count, bits.of);
}

std::string stages_text(const plan::Plan& plan) {
  std::vector<std::string> stages;
  for (std::size_t i = 0; i < plan.stages.size(); ++i) {
    stages.push_back(
        fmt::format("{} {}", plan.stages[i].device, to_string(plan.operators_of(i).own)));
  }
  return join(stages, plan.replicated ? " and " : " -> ") + (plan.replicated ? " in turns" : "");
}

ordered_json proportion_json(const Proportion& proportion) {
  const results::Interval interval = statistics::exact_interval(proportion);
  return {{"share", proportion.share()},
          {"ci95", {interval.low, interval.high}},
          {"count", proportion.count},
          {"of", proportion.of}};
}

ordered_json model_json(const EvaluatedModel& model) {
  ordered_json json{{"top1", proportion_json(model.accuracy.top1)}};
  if (model.accuracy.top5) json["top5"] = proportion_json(*model.accuracy.top5);
  json["seconds"] = to_seconds(model.time);
  return json;
}

}  // namespace

std::string percent_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string write_accuracy_table(const EvaluationReport& report, const ReportStyle& style) {
  std::string text =
      fmt::format("data        {}: {}, {} classes, batch {}\n", report.data,
                  report.samples == report.of
                      ? fmt::format("{} samples", report.of)
                      : fmt::format("{} of {} samples, evenly spaced", report.samples, report.of),
                  report.classes, report.batch);
  if (report.pipeline) {
    const plan::Plan& plan = report.pipeline->plan;
    const std::string codecs = plan.codecs.empty() ? std::string() : " " + join(plan.codecs, "+");
    text +=
        fmt::format("pipeline    {}{}, {}{}, window {}, {} {}\n", stages_text(plan),
                    plan.splits.empty() ? "" : ", " + join(plan.splits, "+"), plan.transport_text(),
                    codecs, report.pipeline->window, plan.settings.engine, plan.settings.precision);
  }
  TextTable table({{report.model},
                   {"top-1", Align::kRight},
                   {"95 %", Align::kLeft, 2, "95 % of top-1"},
                   {"top-5", Align::kRight},
                   {"95 %", Align::kLeft, 3, "95 % of top-5"},
                   {"agrees", Align::kRight},
                   {"95 %", Align::kLeft, 2, "95 % of agrees"},
                   {"samples/s", Align::kRight, 1}});
  table.add(row_of("uncut", report.samples, report.uncut, std::nullopt));
  if (report.pipeline) {
    table.add(row_of("pipeline", report.samples, report.pipeline->figures,
                     report.pipeline->agreement.best));
  }
  for (const std::size_t column : {7U, 6U, 5U, 4U, 3U}) table.remove_if_empty(column);
  text += table.render(style);
  if (report.pipeline) text += bits_text(report.pipeline->agreement.bits);
  return text;
}

std::string write_accuracy_json(const EvaluationReport& report) {
  ordered_json json{{"model", report.model},
                    {"data", report.data},
                    {"samples", report.samples},
                    {"of", report.of},
                    {"classes", report.classes},
                    {"batch", report.batch},
                    {"uncut", model_json(report.uncut)}};
  if (report.pipeline) {
    ordered_json pipeline = model_json(report.pipeline->figures);
    pipeline["agreement"] = proportion_json(report.pipeline->agreement.best);
    pipeline["bit_equal"] = proportion_json(report.pipeline->agreement.bits);
    pipeline["window"] = report.pipeline->window;
    pipeline["plan"] = ordered_json::parse(to_json(plan::PlanFile{report.pipeline->plan, {}}));
    json["pipeline"] = std::move(pipeline);
  }
  return dump(json, 2) + "\n";
}

}  // namespace pareto::report
