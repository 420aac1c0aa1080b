#include <nlohmann/json.hpp>

#include "client/report/plan_writer.h"
#include "coordinator/results/figures_json.h"
#include "core/base/json_text.h"

namespace pareto::report {
namespace {

using Json = nlohmann::ordered_json;
using planning::Evaluation;
using planning::OperatingPoint;

Json json_of(const PlanReport& report, const OperatingPoint& point, const Evaluation& of) {
  const auto predicted = planning::predicted_measurement(of, point, report.batch);
  Json row{{"latency_ms", predicted.latency_p50_ms},
           {"samples_per_s", predicted.throughput_per_s},
           {"window", predicted.throughput_window},
           {"unloaded_latency_ms", to_milliseconds(of.latency)},
           {"bottleneck_ms", to_milliseconds(of.bottleneck)},
           {"boundary_bytes", predicted.boundary_bytes},
           {"objectives", Json::object()}};
  for (const planning::Objective* const one : report.known) {
    const std::int64_t value = planning::value_at(*one, of.value(*one), point);
    row["objectives"][std::string(one->name)] = planning::shown_value(*one, value, report.batch);
  }
  return row;
}

Json json_of(const PlanReport& report, const planning::ReplayOutcome& replayed) {
  return {{"latency_p50_ms", to_milliseconds(replayed.response_p50)},
          {"latency_p95_ms", to_milliseconds(replayed.response_p95)},
          {"samples_per_s", static_cast<double>(report.batch) * replayed.throughput_per_s},
          {"share", replayed.share}};
}

Json with_plan(const plan::Plan& plan, const Json& row) {
  Json json{{"plan", Json::parse(plan::to_json(plan))}};
  json.update(row);
  return json;
}

/// Returns its best latency and its best throughput, and whether it is beaten at the windows that
/// are best for it.
Json json_of(const PlanReport& report, const planning::Candidate& candidate) {
  const Evaluation& of = candidate.evaluation;
  Json row = json_of(report, planning::at_window(of, 1), of);
  row["samples_per_s"] = static_cast<double>(report.batch) * 1e9 / to_nanoseconds(of.bottleneck);
  row.erase("window");
  row["points"] = Json::array();
  for (const planning::Candidate::Point& one : candidate.points) {
    const auto predicted = planning::predicted_measurement(of, one.point, report.batch);
    Json point{{"latency_ms", predicted.latency_p50_ms},
               {"samples_per_s", predicted.throughput_per_s},
               {"window", predicted.throughput_window},
               {"beaten_by", nullptr}};
    if (one.beaten_by) point["beaten_by"] = *one.beaten_by;
    row["points"].push_back(std::move(point));
  }
  return with_plan(candidate.plan, row);
}

Json json_of(const PlanReport& report, std::size_t number) {
  const planning::Outlook& outlook = report.outlooks[number];
  Json json{{"condition", outlook.condition},
            {"front", Json::array()},
            {"chosen", nullptr},
            {"cuts", outlook.cut_anywhere ? "ideals" : "order"},
            {"plans", Json::array()}};
  for (std::size_t i = 0; i < outlook.front.size(); ++i) {
    const planning::PlannedPoint& one = outlook.front[i];
    Json row = json_of(report, one.point, one.evaluation);
    if (one.with_jitter) row["with_jitter"] = json_of(report, *one.with_jitter);
    if (number < report.accuracies.size()) {
      row["accuracy"] = results::accuracy_json(report.accuracies[number][i]);
    }
    json["front"].push_back(with_plan(one.plan, row));
  }
  if (outlook.chosen) json["chosen"] = *outlook.chosen;
  for (const planning::Candidate& candidate : outlook.candidates) {
    json["plans"].push_back(json_of(report, candidate));
  }
  return json;
}

}  // namespace

std::string write_plan_json(const PlanReport& report) {
  Json json{{"model", report.model},    {"transports", report.transports},
            {"codecs", report.codecs},  {"batch", report.batch},
            {"also", Json::array()},    {"media", Json::array()},
            {"networks", Json::array()}};
  for (const planning::Objective* const one : report.also) json["also"].push_back(one->name);
  for (const SharedMedium& medium : report.media) {
    json["media"].push_back({{"name", medium.name}, {"devices", medium.devices}});
  }
  for (std::size_t i = 0; i < report.outlooks.size(); ++i) {
    json["networks"].push_back(json_of(report, i));
  }
  if (!report.accuracies.empty()) json["left_out"] = report.left_out;
  return dump(json, 2) + "\n";
}

}  // namespace pareto::report
