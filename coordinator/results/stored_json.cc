#include "coordinator/results/stored_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "coordinator/results/disturbances.h"
#include "coordinator/results/figures_json.h"
#include "coordinator/results/quantile.h"
#include "coordinator/results/record_json.h"
#include "coordinator/results/split_json.h"
#include "coordinator/results/whole_numbers.h"
#include "core/base/json_parse.h"
#include "core/base/json_reason.h"

namespace pareto::results {
namespace {

using Json = nlohmann::ordered_json;

Json round_json(const TrialRound& round) {
  Json json{{"round", round.round},
            {"loading", round.loading},
            {"latency_ms", round.latency_ms},
            {"sink_receive_ms", round.sink_receive_ms},
            {"stages", Json::array()},
            {"window", round.window},
            {"intervals_s", round.intervals_s}};
  for (const StageSamples& stage : round.stages) {
    json["stages"].push_back({{"compute_ms", stage.compute_ms},
                              {"queue_ms", stage.queue_ms},
                              {"receive_ms", stage.receive_ms},
                              {"encode_ms", stage.encode_ms},
                              {"busy_ms", stage.busy_ms}});
  }
  return json;
}

Expected<TrialRound> round_from(const Json& json, std::size_t stages) {
  TrialRound round;
  read_whole(json, "round", round.round);
  // Earlier versions took all rounds for those of one.
  round.loading = whole_number_at(json, "loading", 0);
  json.at("latency_ms").get_to(round.latency_ms);
  json.at("sink_receive_ms").get_to(round.sink_receive_ms);
  read_whole(json, "window", round.window);
  json.at("intervals_s").get_to(round.intervals_s);
  for (const Json& samples : json.at("stages")) {
    StageSamples& stage = round.stages.emplace_back();
    samples.at("compute_ms").get_to(stage.compute_ms);
    samples.at("queue_ms").get_to(stage.queue_ms);
    samples.at("receive_ms").get_to(stage.receive_ms);
    samples.at("encode_ms").get_to(stage.encode_ms);
    if (samples.contains("busy_ms")) samples.at("busy_ms").get_to(stage.busy_ms);
  }
  if (round.stages.size() != stages || round.window < 1) {
    return fail(ErrorCode::kCorrupt, "round {} has samples of {} stages, its plan {}; window {}",
                round.round, round.stages.size(), stages, round.window);
  }
  return round;
}

Expected<> read_details(const Json& json, TrialRecord& trial) {
  PARETO_ASSIGN(trial.plan, plan::plan_from_json(json.at("plan").dump()));
  // Runs of before there was a choice lack it.
  trial.auto_codec = json.value("auto_codec", false);
  trial.name = json.value("name", "");
  trial.no_room = json.value("no_room", false);
  if (trial.split) PARETO_TRY(read_cuts(json, trial.plan, *trial.split));
  if (json.contains("output_error")) {
    trial.output_error = output_error_from(json.at("output_error"));
  }
  if (json.contains("accuracy")) trial.accuracy = accuracy_from(json.at("accuracy"));
  if (json.contains("network")) trial.network = network_from(json.at("network"));
  if (json.contains("predicted")) trial.prediction = prediction_from(json.at("predicted"));
  for (const Json& stage : json.at("stages")) trial.stages.push_back(stage_from(stage));
  for (const Json& link : json.at("links")) trial.links.push_back(link_from(link));
  if (!trial.links.empty() && trial.links.size() != trial.plan.links()) {
    return fail(ErrorCode::kCorrupt, "figures of {} links, its plan has {}", trial.links.size(),
                trial.plan.links());
  }
  std::vector<double> latency_ms;
  for (const Json& round : json.at("rounds")) {
    PARETO_ASSIGN(TrialRound read, round_from(round, trial.plan.stages.size()));
    latency_ms.insert(latency_ms.end(), read.latency_ms.begin(), read.latency_ms.end());
    trial.rounds.push_back(std::move(read));
  }
  trial.latency.p95_ms = quantile(latency_ms, 0.95);
  if (json.contains("measured")) {
    json.at("measured").at("p50_ms").get_to(trial.latency.measured_p50_ms);
    json.at("measured").at("samples_per_s").get_to(trial.throughput.measured_per_s);
  }
  return {};
}

/// Returns the times as they are kept with their pass.
Json kept_spent(const TimeSpent& spent) {
  Json json = spent_json(spent);
  json["openings_ms"] = spent.openings_ms;
  return json;
}

TimeSpent spent_from(const Json& json) {
  const auto number = [&](const char* key) { return json.at(key).get<double>(); };
  return {number("total_s"),
          number("measuring_s"),
          number("sentinel_s"),
          number("loading_s"),
          number("opening_s"),
          number("network_s"),
          json.at("openings_ms").get<std::vector<double>>(),
          whole_number_at(json, "requests", std::int64_t{0})};
}

}  // namespace

std::string details_to_json(const TrialRecord& trial) {
  Json json{{"plan", Json::parse(plan::to_json(trial.plan), nullptr, false)},
            {"auto_codec", trial.auto_codec},
            {"cuts", trial.split ? kept_cuts(*trial.split) : Json::array()},
            {"stages", Json::array()},
            {"links", Json::array()},
            {"rounds", Json::array()}};
  if (trial.latency.measured_p50_ms > 0) {
    json["measured"] = {{"p50_ms", trial.latency.measured_p50_ms},
                        {"samples_per_s", trial.throughput.measured_per_s}};
  }
  if (!trial.name.empty()) json["name"] = trial.name;
  if (trial.no_room) json["no_room"] = true;
  if (trial.network) json["network"] = network_json(*trial.network);
  if (trial.prediction) json["predicted"] = prediction_json(*trial.prediction);
  if (trial.output_error) json["output_error"] = output_error_json(*trial.output_error);
  if (trial.accuracy) json["accuracy"] = accuracy_json(*trial.accuracy);
  for (const StageFigures& stage : trial.stages) json["stages"].push_back(stage_json(stage));
  for (const LinkFigures& link : trial.links) json["links"].push_back(link_json(link));
  for (const TrialRound& round : trial.rounds) json["rounds"].push_back(round_json(round));
  return dump(json);
}

Expected<> details_from_json(const std::string& text, TrialRecord& trial) {
  try {
    return with_context(read_details(parse_json<Json>(text), trial), "trial {}", trial.id);
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, "trial {}: {}", trial.id, json_reason(error));
  }
}

std::string devices_to_json(const std::vector<DeviceRecord>& devices) {
  Json json = Json::array();
  for (const DeviceRecord& device : devices) json.push_back(to_json(device));
  return dump(json);
}

Expected<std::vector<DeviceRecord>> devices_from_json(const std::string& text) {
  std::vector<DeviceRecord> devices;
  try {
    for (const Json& json : parse_json<Json>(text)) {
      DeviceRecord& device = devices.emplace_back();
      json.at("name").get_to(device.name);
      json.at("address").get_to(device.address);
      read_whole(json, "threads", device.threads);
      json.at("cpu").get_to(device.cpu);
      read_whole(json, "memory_bytes", device.memory_bytes);
      json.at("torch").get_to(device.torch_version);
      read_whole(json, "weights_sent_bytes", device.weights_sent_bytes);
      // Earlier versions did not keep them.
      device.runs_on = json.value("runs_on", "");
      device.cores = whole_number_at(json, "cores", 0);
    }
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, "the devices of a stored run: {}", json_reason(error));
  }
  return devices;
}

std::string coordinator_to_json(const std::optional<Machine>& machine) {
  return machine ? dump(to_json(*machine)) : "";
}

Expected<std::optional<Machine>> coordinator_from_json(const std::string& text) {
  if (text.empty()) return std::nullopt;
  try {
    const Json json = parse_json<Json>(text);
    return Machine{json.at("cpu").get<std::string>(), whole_number<std::uint32_t>(json.at("cores")),
                   json.at("os").get<std::string>(),
                   whole_number<std::uint64_t>(json.at("memory_bytes"))};
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, "the coordinator of a stored run: {}", json_reason(error));
  }
}

std::string passes_to_json(const std::vector<PassRecord>& passes) {
  Json json = passes_json(passes);
  for (std::size_t i = 0; i < passes.size(); ++i) json[i]["spent"] = kept_spent(passes[i].spent);
  return dump(json);
}

Expected<std::vector<PassRecord>> passes_from_json(const std::string& text) {
  std::vector<PassRecord> passes;
  try {
    for (const Json& json : parse_json<Json>(text)) {
      PassRecord& pass = passes.emplace_back();
      read_whole(json, "round", pass.round);
      json.at("repeat").get_to(pass.repeat);
      json.at("sentinel_plan_ms").get_to(pass.plan_ms);
      json.at("sentinel_loop_ms").get_to(pass.loop_ms);
      pass.seconds = json.value("seconds", 0.0);
      // Earlier versions kept no others.
      pass.whole = json.value("whole", true);
      if (json.contains("spent")) pass.spent = spent_from(json.at("spent"));
      if (json.contains("others")) pass.others = foreign_load_from(json.at("others"));
      if (json.contains("company")) pass.company = company_from(json.at("company"));
    }
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, "the passes of a stored run: {}", json_reason(error));
  }
  return passes;
}

}  // namespace pareto::results
