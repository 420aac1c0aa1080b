#include <nlohmann/json.hpp>

#include "client/report/diff_writer.h"
#include "coordinator/results/disturbances.h"
#include "coordinator/results/record_json.h"

namespace pareto::report {
namespace {

using Json = nlohmann::ordered_json;

Json run_json(const results::RunRecord& run) {
  return {{"run", run.id},
          {"model", run.model},
          {"model_digest", run.model_digest},
          {"software", run.software_version},
          {"started", run.started},
          {"disturbances", to_json(results::disturbances(run))}};
}

Json interval_json(const std::optional<results::Interval>& interval) {
  return interval ? Json{interval->low, interval->high} : Json();
}

Json figure_json(const statistics::FigureDiff& figure) {
  return {{"a", figure.a},
          {"b", figure.b},
          {"window", {figure.window_a, figure.window_b}},
          {"rounds", {figure.ratio.rounds_a, figure.ratio.rounds_b}},
          {"ratio_of", {figure.ratio.a, figure.ratio.b}},
          {"ratio", figure.ratio.value},
          {"ci975", interval_json(figure.ratio.ci975)},
          {"ci90", interval_json(figure.ratio.ci90)},
          {"verdict", to_string(figure.verdict)},
          {"regressed", figure.regressed}};
}

Json lone_json(const std::vector<statistics::LonePlan>& plans) {
  Json list = Json::array();
  for (const statistics::LonePlan& plan : plans) {
    list.push_back(
        {{"id", plan.trial->id}, {"failure", plan.failure.empty() ? Json() : Json(plan.failure)}});
  }
  return list;
}

}  // namespace

std::string write_diff_json(const DiffSides& sides, const statistics::RunDiff& diff) {
  Json plans = Json::array();
  for (const statistics::PlanDiff& plan : diff.plans) {
    plans.push_back({{"a", plan.a->id},
                     {"b", plan.b->id},
                     {"change", to_string(plan.change)},
                     {"paired", plan.latency.ratio.paired},
                     {"latency_ms", figure_json(plan.latency)},
                     {"throughput", figure_json(plan.throughput)}});
  }
  const Json json{
      {"a", run_json(sides.a)},
      {"b", run_json(sides.b)},
      {"tolerance", diff.tolerance},
      {"machine", {{"ratio", diff.machine.value}, {"ci975", interval_json(diff.machine.ci975)}}},
      {"warnings", diff.warnings},
      {"plans", std::move(plans)},
      {"only_in_a", lone_json(diff.only_in_a)},
      {"only_in_b", lone_json(diff.only_in_b)},
      {"regressions", diff.regressions()},
      {"summary", summary_of(diff)}};
  return dump(json, 1) + "\n";
}

}  // namespace pareto::report
