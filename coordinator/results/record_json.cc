#include "coordinator/results/record_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "coordinator/results/best_by_network.h"
#include "coordinator/results/disturbances.h"
#include "coordinator/results/figures_json.h"
#include "coordinator/results/front_chance.h"
#include "coordinator/results/prediction_error.h"
#include "coordinator/results/run_options.h"
#include "coordinator/results/share_within.h"
#include "coordinator/results/split_json.h"
#include "coordinator/results/time_spent.h"
#include "coordinator/results/varied_settings.h"

namespace pareto::results {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Interval& interval) { return Json::array({interval.low, interval.high}); }

Json plan_json(const plan::Plan& plan) { return Json::parse(plan::to_json(plan), nullptr, false); }

Json latency_json(const LatencyFigures& latency) {
  return {{"p50", latency.p50_ms},
          {"p90", latency.p90_ms},
          {"p95", latency.p95_ms},
          {"p99", latency.p99_ms},
          {"mean", latency.mean_ms},
          {"ci95", to_json(latency.ci95_ms)},
          {"measured_p50", latency.measured_p50_ms},
          {"window", latency.window},
          {"samples", latency.samples}};
}

Json throughput_json(const ThroughputFigures& throughput) {
  return {{"samples_per_s", throughput.samples_per_s},
          {"ci95", to_json(throughput.ci95)},
          {"measured_samples_per_s", throughput.measured_per_s},
          {"window", throughput.window},
          {"samples", throughput.samples}};
}

Json networks_json(const RunRecord& run) {
  const auto id = [](const TrialRecord* trial) { return trial ? Json(trial->id) : Json(); };
  const auto rate = [](double mbit_per_s) {
    return mbit_per_s > 0 ? Json(mbit_per_s * 1e6) : Json();
  };
  Json json = Json::array();
  for (const NetworkBest& at : best_by_network(run)) {
    const NetworkFigures network = at.network.value_or(NetworkFigures{});
    json.push_back({{"condition", at.condition},
                    {"batch", at.batch},
                    {"round_trip_ms", at.network ? Json(network.round_trip_ms) : Json()},
                    {"forward_bits_per_s", rate(network.forward_mbit_per_s)},
                    {"backward_bits_per_s", rate(network.backward_mbit_per_s)},
                    {"trials", at.trials},
                    {"measured", at.measured},
                    {"failed", at.failed},
                    {"skipped", at.skipped},
                    {"fastest", id(at.best.fastest)},
                    {"most_productive", id(at.best.most_productive)},
                    {"fastest_split", id(at.split.fastest)},
                    {"most_productive_split", id(at.split.most_productive)},
                    {"fastest_unsplit", id(at.unsplit.fastest)},
                    {"most_productive_unsplit", id(at.unsplit.most_productive)}});
  }
  return json;
}

Json prediction_errors_json(const RunRecord& run) {
  const auto to_json = [](const FigureError& error) {
    return Json{{"median", error.median},
                {"p95", error.p95},
                {"bias", error.bias},
                {"resolution", error.resolution},
                {"kendall_tau", error.kendall_tau},
                {"kendall_tau_apart", error.kendall_tau_apart},
                {"no_guide", error.breaks_order}};
  };
  Json json = Json::array();
  for (const PredictionError& error : prediction_errors(run)) {
    json.push_back({{"batch", error.batch},
                    {"condition", error.condition},
                    {"trials", error.trials},
                    {"no_guide", error.no_guide},
                    {"latency", to_json(error.latency)},
                    {"throughput", to_json(error.throughput)}});
  }
  return json;
}

/// Returns the times of the run, for its readers.
Json time_json(const RunRecord& run) {
  const TimeSpent spent = time_spent(run);
  Json json = spent_json(spent);
  json["dead_share"] = dead_share(spent);
  json["openings"] = spent.openings_ms.size();
  if (!spent.openings_ms.empty()) {
    json["opening_ms"] = {{"p50", share_within(spent.openings_ms, 0.5)},
                          {"p95", share_within(spent.openings_ms, 0.95)}};
  }
  return json;
}

/// Returns the figures by the objectives' names.
Json objectives_json(const TrialRecord& trial) {
  Json json = Json::object();
  for (const ObjectiveFigure& one : trial.objectives) json[one.name] = one.value;
  return json;
}

Json axes_json(const RunRecord& run) {
  return run.axes.empty() ? Json{"latency", "throughput"} : Json(run.axes);
}

}  // namespace

std::string status_of(const TrialRecord& trial) {
  if (trial.status == TrialStatus::kFailed) return "failed";
  if (trial.status == TrialStatus::kSkipped) return "skipped";
  if (trial.status == TrialStatus::kRefused) return "refused";
  if (trial.latency.samples > 0) return "ok";
  return trial.prediction ? "predicted" : "planned";
}

Json to_json(const TrialRecord& trial) {
  const std::string status = status_of(trial);
  Json json{{"id", trial.id},
            {"split", trial.split ? split_json(*trial.split, trial.batch) : Json()},
            {"plan", plan_json(trial.plan)},
            {"transport", trial.transport},
            {"codec", trial.codec},
            {"auto_codec", trial.auto_codec},
            {"batch", trial.batch},
            {"condition", trial.condition}};
  if (!trial.name.empty()) json["name"] = trial.name;
  if (trial.network) json["network"] = network_json(*trial.network);
  if (trial.prediction) json["predicted"] = prediction_json(*trial.prediction);
  if (trial.accuracy) json["accuracy"] = accuracy_json(*trial.accuracy);
  if (status == "ok") {
    json["rounds"] = trial.rounds.size();
    json["latency_ms"] = latency_json(trial.latency);
    json["throughput"] = throughput_json(trial.throughput);
    json["stages"] = Json::array();
    for (const StageFigures& stage : trial.stages) json["stages"].push_back(stage_json(stage));
    json["links"] = Json::array();
    for (std::size_t i = 0; i < trial.links.size(); ++i) {
      json["links"].push_back(link_json(trial.links[i]));
      json["links"].back()["transport"] = trial.plan.transport_of(i);
    }
    if (trial.output_error) json["output_error"] = output_error_json(*trial.output_error);
    json["objectives"] = objectives_json(trial);
    json["time_split_ms"] = {{"compute", trial.time_split.compute_ms},
                             {"transfer", trial.time_split.transfer_ms},
                             {"wait", trial.time_split.wait_ms}};
  }
  json["on_front"] = trial.on_front;
  // One that was run by itself was compared with none.
  if (trial.p_front != kUnsettled) {
    json["p_front"] = trial.p_front;
    json["p_front_text"] = chance_text(trial);
  }
  json["status"] = status;
  if (trial.status != TrialStatus::kOk) json["failure"] = trial.failure;
  return json;
}

Json to_json(const ObjectiveRecord& objective) {
  return {{"name", objective.name},
          {"title", objective.title},
          {"unit", objective.unit},
          {"better", objective.less ? "smaller" : "larger"}};
}

Json to_json(const DeviceRecord& device) {
  Json json{{"name", device.name},
            {"address", device.address},
            {"threads", device.threads},
            {"cpu", device.cpu},
            {"memory_bytes", device.memory_bytes},
            {"torch", device.torch_version},
            {"weights_sent_bytes", device.weights_sent_bytes}};
  if (!device.runs_on.empty()) json["runs_on"] = device.runs_on;
  if (device.cores > 0) json["cores"] = device.cores;
  return json;
}

Json to_json(const Machine& machine) {
  return {{"cpu", machine.cpu},
          {"cores", machine.cores},
          {"memory_bytes", machine.memory_bytes},
          {"os", machine.os}};
}

std::vector<std::string> front_ids(const RunRecord& run) {
  std::vector<const TrialRecord*> front;
  for (const TrialRecord& trial : run.trials) {
    if (trial.on_front) front.push_back(&trial);
  }
  std::ranges::stable_sort(front, {}, [](const auto* trial) { return trial->latency.p50_ms; });
  std::vector<std::string> ids;
  for (const TrialRecord* trial : front) ids.push_back(trial->id);
  return ids;
}

bool is_adaptive(const RunRecord& run) {
  const Json options = run_options(run);
  const auto sweep = options.find("sweep");
  if (sweep != options.end() && sweep->is_object()) return sweep->value("adaptive", false);
  return std::ranges::any_of(run.trials,
                             [](const TrialRecord& trial) { return trial.prediction.has_value(); });
}

Json to_json(const RunRecord& run) {
  Json json{{"run", run.id},
            {"model", run.model},
            {"model_digest", run.model_digest},
            {"weight_bytes", run.model_weight_bytes},
            {"software",
             {{"pareto_edge", run.software_version},
              {"torch", run.devices.empty() ? "" : run.devices.front().torch_version}}},
            {"started", run.started},
            {"finished", run.finished.empty() ? Json() : Json(run.finished)},
            {"command_line", run.command_line},
            {"seed", run.seed},
            {"options", run_options(run)},
            {"passes", passes_json(run.passes)},
            {"time", time_json(run)},
            {"note", run.note},
            {"objectives", Json::array()},
            {"axes", axes_json(run)},
            {"machines", to_json(foreign_load(run))},
            {"company", to_json(company(run))},
            {"disturbances", to_json(disturbances(run))},
            {"coordinator", run.coordinator ? to_json(*run.coordinator) : Json()},
            {"devices", Json::array()},
            {"trials", Json::array()}};
  for (const ObjectiveRecord& one : run.objectives) json["objectives"].push_back(to_json(one));
  for (const DeviceRecord& device : run.devices) json["devices"].push_back(to_json(device));
  const plan::VariedSettings varied = varied_settings(run);
  const std::vector<std::string> names = varied.names();
  for (const TrialRecord& trial : run.trials) {
    json["trials"].push_back(to_json(trial));
    const std::vector<std::string> texts = varied.texts(trial.plan);
    for (std::size_t i = 0; i < names.size(); ++i) json["trials"].back()[names[i]] = texts[i];
    // Nobody knows how sure a front of chosen objectives is, nor where a plan stands that was never
    // measured if predictions are no guide.
    if (trial.p_front != kUnsettled) continue;
    json["trials"].back()["p_front"] = nullptr;
    json["trials"].back()["p_front_text"] = chance_text(trial);
  }
  json["front"] = front_ids(run);
  json["networks"] = networks_json(run);
  json["prediction_errors"] = prediction_errors_json(run);
  return json;
}

}  // namespace pareto::results
