#include <nlohmann/json.hpp>

#include "client/report/simulation_writer.h"
#include "coordinator/results/record_json.h"

namespace pareto::report {
namespace {

using Json = nlohmann::ordered_json;
using simulation::Outcome;
using simulation::PipelineOutcome;

Json use_json(const simulation::Utilisation& use) {
  return {{"mean", use.mean}, {"max", use.most}, {"busiest", use.busiest}};
}

Json bottleneck_json(const std::string& name, double use) {
  if (name.empty()) return {};
  return {{"name", name}, {"use", use}};
}

Json pipeline_json(const PipelineOutcome& one) {
  Json stages = Json::array();
  for (const simulation::StageOutcome& stage : one.stages) {
    stages.push_back({{"device", stage.device},
                      {"computing", stage.computing},
                      {"blocked", stage.blocked},
                      {"queue_mean", stage.queue_mean},
                      {"queue_max", stage.queue_most}});
  }
  Json links = Json::array();
  for (const simulation::LinkOutcome& link : one.links) {
    links.push_back({{"medium", link.medium.empty() ? Json() : Json(link.medium)},
                     {"media", link.media},
                     {"use", use_json(link.use)}});
  }
  return {{"name", one.name},
          {"count", one.count},
          {"window", one.window > 0 ? Json(one.window) : Json()},
          {"requests", one.requests},
          {"requests_per_s", one.requests_per_s},
          {"samples_per_s", one.samples_per_s},
          {"latency_ms",
           {{"p50", one.latency.p50_ms},
            {"p90", one.latency.p90_ms},
            {"p95", one.latency.p95_ms},
            {"p99", one.latency.p99_ms},
            {"mean", one.latency.mean_ms},
            {"min", one.latency.least_ms},
            {"max", one.latency.most_ms}}},
          {"in_flight", one.in_flight},
          {"bottleneck", bottleneck_json(one.bottleneck, one.bottleneck_use)},
          {"stages", std::move(stages)},
          {"links", std::move(links)}};
}

Json predicted_json(const replay::Predicted& figure) {
  return {
      {"measured", figure.measured}, {"simulated", figure.simulated}, {"error", figure.error()}};
}

Json summary_json(const replay::ErrorSummary& summary) {
  return {{"median", summary.median}, {"max", summary.most}};
}

}  // namespace

std::string write_simulation_json(const std::string& name, const simulation::Scenario& scenario,
                                  const Outcome& outcome) {
  Json json{{"scenario", name},
            {"seed", scenario.seed},
            {"simulated_s", to_seconds(outcome.simulated)},
            {"measured_s", to_seconds(outcome.measured)},
            {"requests", outcome.requests},
            {"events", outcome.events},
            {"stopped", outcome.stopped},
            {"pipelines", Json::array()},
            {"devices", Json::array()},
            {"media", Json::array()}};
  for (const PipelineOutcome& one : outcome.pipelines) {
    json["pipelines"].push_back(pipeline_json(one));
  }
  for (const simulation::DeviceOutcome& one : outcome.devices) {
    json["devices"].push_back({{"name", one.name},
                               {"count", one.count},
                               {"cores", one.cores},
                               {"use", use_json(one.use)}});
  }
  for (const simulation::MediumOutcome& one : outcome.media) {
    json["media"].push_back({{"name", one.name}, {"count", one.count}, {"use", use_json(one.use)}});
  }
  return dump(json, 1) + "\n";
}

std::string write_simulated_run_json(const results::RunRecord& run,
                                     const replay::RunSimulationOptions& options,
                                     const std::vector<replay::SimulatedTrial>& trials) {
  Json rows = Json::array();
  for (const replay::SimulatedTrial& one : trials) {
    Json row{{"id", one.trial->id}, {"status", one.skipped.empty() ? "simulated" : "skipped"}};
    if (one.skipped.empty()) {
      row["window"] = one.window;
      row["samples_per_s"] = predicted_json(one.samples_per_s);
      row["latency_ms"] = {{"p50", predicted_json(one.p50_ms)},
                           {"p95", predicted_json(one.p95_ms)}};
      row["bottleneck"] = bottleneck_json(one.bottleneck, one.bottleneck_use);
    } else {
      row["reason"] = one.skipped;
    }
    rows.push_back(std::move(row));
  }
  const Json json{
      {"run", run.id},
      {"model", run.model},
      {"seed", options.seed},
      {"requests", options.requests},
      {"cores", options.cores},
      {"trials", std::move(rows)},
      {"errors",
       {{"samples_per_s", summary_json(summary_of(trials, &replay::SimulatedTrial::samples_per_s))},
        {"p50_ms", summary_json(summary_of(trials, &replay::SimulatedTrial::p50_ms))},
        {"p95_ms", summary_json(summary_of(trials, &replay::SimulatedTrial::p95_ms))}}}};
  return dump(json, 1) + "\n";
}

}  // namespace pareto::report
