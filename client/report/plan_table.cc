#include <algorithm>
#include <map>
#include <utility>

#include "client/report/accuracy_writer.h"
#include "client/report/objective_text.h"
#include "client/report/plan_text.h"
#include "client/report/plan_writer.h"
#include "client/report/text_table.h"
#include "coordinator/cluster/codec_choice.h"
#include "coordinator/cluster/daemon_client.h"
#include "core/base/text.h"
#include "core/plan/varied_settings.h"

namespace pareto::report {
namespace {

using planning::Evaluation;
using planning::OperatingPoint;

std::string name_of(const plan::Plan& plan) {
  return plan.splits.empty() ? all_on(plan) : join(plan.splits, " + ");
}

std::string devices_of(const plan::Plan& plan) {
  return join(plan.device_names(), plan.replicated ? ", " : " > ");
}

constexpr const char* kLatencies =
    "lone ms: latency of a request by itself, as p50 ms of a sweep. ms at W: with W requests in "
    "flight, as samples/s is; --max-latency limits this one";
constexpr const char* kOperators =
    "op:8: cut after the first 8 operators of the model's order. op:8:16-17: operator 16, of "
    "another "
    "branch, runs before the cut too; such a range ends before its second number. "
    "A plan file (--save) says which operators each stage runs";
constexpr const char* kJitter =
    "with jitter: median latency at W and samples/s, replayed as unevenly as the devices worked "
    "when they were profiled. ms at W is a mean: where a few requests took long, the median is "
    "less";

constexpr const char* kAccuracy =
    "top-1: samples of the data set that are answered rightly. =: the plan loses nothing, so that "
    "it was not run; with --engine plain it equals the uncut model bit for bit, and other engines "
    "differ by rounding";

/// Returns "82.60 %", or "= 82.60 %" if that is the uncut model's.
std::string top1_text(const results::AccuracyFigures& accuracy) {
  return (accuracy.was_run ? "" : "= ") + percent_text(accuracy.top1());
}

/// Returns "Media: wifi (pi-1, pi-2), lte (pi-3 alone)"; nothing where there are none. A misspelt
/// one is seen by who is missing.
std::string media_line(const std::vector<SharedMedium>& media) {
  std::vector<std::string> words;
  for (const SharedMedium& medium : media) {
    const char* const alone = medium.devices.size() == 1 ? " alone" : "";
    words.push_back(fmt::format("{} ({}{})", medium.name, join(medium.devices), alone));
  }
  return words.empty() ? "" : "Media: " + join(words) + "\n\n";
}

/// The tables of one report: which columns there are depends on what plans choose from.
class PlanTables {
 public:
  PlanTables(const PlanReport& report, const ReportStyle& style) : report_(report), style_(style) {
    std::vector<const plan::Plan*> plans;
    for (const planning::Outlook& outlook : report.outlooks) {
      for (const planning::PlannedPoint& one : outlook.front) plans.push_back(&one.plan);
      for (const planning::Candidate& one : outlook.candidates) plans.push_back(&one.plan);
    }
    varied_ = plan::VariedSettings(plans);
  }

  std::string of(std::size_t number) const {
    const planning::Outlook& outlook = report_.outlooks[number];
    std::string text = title(outlook) + front(number) + '\n';
    if (outlook.chosen) {
      text += fmt::format("* {}: the plan to take\n\n", report_.preference);
    } else if (outlook.front.empty()) {
      text +=
          "No plan is possible: wherever the model is cut, a part is left that no device has room "
          "for, or no link leads to it.\n\n";
    } else {
      text += "No plan keeps the limits asked for.\n\n";
    }
    if (!outlook.candidates.empty()) text += candidates(outlook);
    if (!outlook.why_in_order.empty()) {
      text += "Cut in the model's order: " + outlook.why_in_order + "\n\n";
    }
    return text;
  }

 private:
  std::string title(const planning::Outlook& outlook) const {
    std::string also;
    if (!report_.also.empty()) also = " of latency, throughput";
    for (const planning::Objective* const one : report_.also)
      also += fmt::format(", {}", one->title);
    return fmt::format("Predicted Pareto front{}, {}, batch {}{} (W: requests in flight)\n", also,
                       join(report_.transports, " or "), report_.batch,
                       outlook.condition == "none" ? "" : ", " + outlook.condition);
  }

  bool has_transports() const { return report_.transports.size() > 1; }
  bool has_codecs() const {
    return std::ranges::any_of(report_.codecs, [](const auto& name) { return name != "none"; });
  }
  /// Returns the objectives that have columns: those searched by, memory, and the loss of codecs.
  search::AlsoObjectives shown() const {
    search::AlsoObjectives all = report_.also;
    for (const planning::Objective* const one : report_.known) {
      const bool always = one->name == "memory" || (one->name == "loss" && has_codecs());
      if (always && std::ranges::find(all, one) == all.end()) all.push_back(one);
    }
    return all;
  }
  bool is_searched_by(const planning::Objective* one) const {
    return std::ranges::find(report_.also, one) != report_.also.end();
  }

  std::vector<TextColumn> columns() const {
    std::vector<TextColumn> all{{""}, {"plan"}, {"devices"}};
    if (has_transports()) all.push_back({"transport"});
    if (has_codecs()) all.push_back({"codec"});
    for (const std::string& name : varied_.names()) all.push_back({name});
    all.insert(all.end(), {{"lone ms", Align::kRight},
                           {"ms at W", Align::kRight},
                           {"samples/s", Align::kRight},
                           {"W", Align::kRight},
                           {"bottleneck", Align::kRight, 1}});
    for (const planning::Objective* const one : shown()) {
      all.push_back(
          {objective_column(one->name, one->unit), Align::kRight, is_searched_by(one) ? 0 : 2});
    }
    return all;
  }

  std::vector<std::string> cells(const plan::Plan& plan, const OperatingPoint& point,
                                 const Evaluation& of) const {
    const auto predicted = planning::predicted_measurement(of, point, report_.batch);
    std::vector<std::string> row{"", name_of(plan), devices_of(plan)};
    if (has_transports()) row.push_back(plan.transport_text());
    if (has_codecs()) row.push_back(cluster::codec_text(plan.codecs));
    for (std::string& text : varied_.texts(plan)) row.push_back(std::move(text));
    row.push_back(format_figure(to_milliseconds(of.latency)));
    row.push_back(format_figure(predicted.latency_p50_ms));
    row.push_back(format_figure(predicted.throughput_per_s));
    row.push_back(std::to_string(predicted.throughput_window));
    row.push_back(format_figure(to_milliseconds(of.bottleneck)));
    for (const planning::Objective* const one : shown()) {
      const double value = planning::shown_value(
          *one, planning::value_at(*one, of.value(*one), point), report_.batch);
      row.push_back(objective_text(value, one->unit));
    }
    return row;
  }

  std::string front(std::size_t number) const {
    const planning::Outlook& outlook = report_.outlooks[number];
    const bool is_judged = number < report_.accuracies.size();
    const bool jitters = std::ranges::any_of(outlook.front, [](const planning::PlannedPoint& one) {
      return one.with_jitter.has_value();
    });
    std::vector<TextColumn> all = columns();
    if (is_judged) all.push_back({"top-1", Align::kRight});
    if (jitters) all.push_back({"with jitter", Align::kRight});
    TextTable table(all);
    for (std::size_t i = 0; i < outlook.front.size(); ++i) {
      const planning::PlannedPoint& one = outlook.front[i];
      auto row = cells(one.plan, one.point, one.evaluation);
      row.front() = outlook.chosen == i ? "*" : "";
      if (is_judged) row.push_back(top1_text(report_.accuracies[number][i]));
      if (jitters) row.push_back(with_jitter(one));
      table.add(std::move(row), outlook.chosen == i ? RowStyle::kStrong : RowStyle::kPlain);
    }
    std::string text = table.render(style_);
    if (!outlook.front.empty()) text += paragraph(kLatencies, RowStyle::kPlain, style_);
    if (is_judged) text += paragraph(kAccuracy, RowStyle::kPlain, style_);
    if (jitters) text += paragraph(kJitter, RowStyle::kPlain, style_);
    if (has_sets(outlook)) text += paragraph(kOperators, RowStyle::kPlain, style_);
    return text;
  }

  /// Says whether a plan is cut across branches, so that its cut is called by numbers of operators.
  static bool has_sets(const planning::Outlook& outlook) {
    return std::ranges::any_of(outlook.front, [](const planning::PlannedPoint& one) {
      return one.plan.has_own_order() ||
             std::ranges::any_of(one.plan.splits,
                                 [](const std::string& name) { return name.starts_with("op:"); });
    });
  }

  std::string with_jitter(const planning::PlannedPoint& one) const {
    if (!one.with_jitter) return "";
    return fmt::format(
        "{} ms, {}/s", format_figure(to_milliseconds(one.with_jitter->response_p50)),
        format_figure(static_cast<double>(report_.batch) * one.with_jitter->throughput_per_s));
  }

  std::string candidates(const planning::Outlook& outlook) const {
    std::vector<TextColumn> all = columns();
    all.push_back({"beaten by"});
    TextTable table(all);
    std::vector<const planning::Candidate*> sorted;
    for (const planning::Candidate& candidate : outlook.candidates) {
      if (!candidate.points.empty()) sorted.push_back(&candidate);
    }
    std::ranges::stable_sort(sorted, {}, [](const planning::Candidate* one) {
      return std::pair(best_point(*one).beaten_by.has_value(), one->evaluation.latency);
    });
    for (const planning::Candidate* const candidate : sorted) {
      const planning::Candidate::Point& one = best_point(*candidate);
      auto row = cells(candidate->plan, one.point, candidate->evaluation);
      row.push_back(one.beaten_by ? name_of(outlook.front[*one.beaten_by].plan) : "");
      table.add(std::move(row), one.beaten_by ? RowStyle::kFaint : RowStyle::kPlain);
    }
    return (report_.pairs ? "Every plan of one or two devices, unbeaten ones first, then by the "
                            "latency of a lone request\n"
                          : "Each device alone\n") +
           table.render(style_) + '\n';
  }

  /// Returns the point with the most requests in flight that no plan beats, else of all.
  static const planning::Candidate::Point& best_point(const planning::Candidate& candidate) {
    const auto unbeaten =
        std::find_if(candidate.points.rbegin(), candidate.points.rend(),
                     [](const planning::Candidate::Point& one) { return !one.beaten_by; });
    return unbeaten == candidate.points.rend() ? candidate.points.back() : *unbeaten;
  }

  const PlanReport& report_;
  const ReportStyle& style_;
  plan::VariedSettings varied_;
};

}  // namespace

std::vector<SharedMedium> media_of(const cluster::Cluster& cluster) {
  std::map<std::string, SharedMedium> media;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    const cluster::DeviceConfig& device = cluster.device(i).config();
    if (device.medium.empty()) continue;
    SharedMedium& medium = media[device.medium];
    medium.name = device.medium;
    medium.devices.push_back(device.name);
  }
  std::vector<SharedMedium> by_name;
  for (auto& [name, medium] : media) by_name.push_back(std::move(medium));
  return by_name;
}

std::string write_plan_table(const PlanReport& report, const ReportStyle& style) {
  const PlanTables tables(report, style);
  std::string text = media_line(report.media);
  for (const std::string& one : report.left_out) text += "too inaccurate: " + one + "\n";
  if (!report.left_out.empty()) text += '\n';
  for (std::size_t i = 0; i < report.outlooks.size(); ++i) text += tables.of(i);
  return text;
}

}  // namespace pareto::report
