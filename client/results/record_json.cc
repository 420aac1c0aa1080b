#include "client/results/record_json.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "client/results/best_by_network.h"
#include "client/results/share_within.h"
#include "client/results/split_json.h"
#include "client/results/time_spent.h"
#include "core/base/text.h"

namespace pareto::client {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Interval& interval) { return Json::array({interval.low, interval.high}); }

Json plan_json(const Plan& plan) { return Json::parse(pareto::to_json(plan), nullptr, false); }

Json latency_json(const LatencyFigures& latency) {
  return {{"p50", latency.p50_ms},
          {"p90", latency.p90_ms},
          {"p99", latency.p99_ms},
          {"mean", latency.mean_ms},
          {"ci95", to_json(latency.ci95_ms)},
          {"window", latency.window},
          {"samples", latency.samples}};
}

Json throughput_json(const ThroughputFigures& throughput) {
  return {{"samples_per_s", throughput.samples_per_s},
          {"ci95", to_json(throughput.ci95)},
          {"window", throughput.window},
          {"samples", throughput.samples}};
}

Json stage_json(const StageFigures& stage) {
  return {{"device", stage.device},
          {"engine", stage.engine},
          {"compute_ms", {{"p50", stage.compute_p50_ms}}},
          {"queue_ms", {{"p50", stage.queue_p50_ms}}},
          {"receive_ms", {{"p50", stage.receive_p50_ms}}},
          {"encode_ms", {{"p50", stage.encode_p50_ms}}},
          {"peak_memory_bytes", stage.peak_memory_bytes},
          {"weight_bytes", stage.weight_bytes}};
}

Json link_json(const LinkFigures& link) {
  return {{"transfer_ms", {{"p50", link.transfer_p50_ms}}},
          {"bytes", link.bytes},
          {"wire_bytes", link.wire_bytes}};
}

StageFigures stage_from(const Json& json) {
  StageFigures stage;
  json.at("device").get_to(stage.device);
  json.at("engine").get_to(stage.engine);
  json.at("compute_ms").at("p50").get_to(stage.compute_p50_ms);
  json.at("queue_ms").at("p50").get_to(stage.queue_p50_ms);
  json.at("receive_ms").at("p50").get_to(stage.receive_p50_ms);
  json.at("encode_ms").at("p50").get_to(stage.encode_p50_ms);
  json.at("peak_memory_bytes").get_to(stage.peak_memory_bytes);
  json.at("weight_bytes").get_to(stage.weight_bytes);
  return stage;
}

LinkFigures link_from(const Json& json) {
  LinkFigures link;
  json.at("transfer_ms").at("p50").get_to(link.transfer_p50_ms);
  json.at("bytes").get_to(link.bytes);
  json.at("wire_bytes").get_to(link.wire_bytes);
  return link;
}

Json round_json(const TrialRound& round) {
  Json json{{"round", round.round},
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
                              {"cpu_ms", stage.cpu_ms},
                              {"busy_ms", stage.busy_ms},
                              {"busy_cpu_ms", stage.busy_cpu_ms}});
  }
  return json;
}

Expected<TrialRound> round_from(const Json& json, std::size_t stages) {
  TrialRound round;
  json.at("round").get_to(round.round);
  json.at("latency_ms").get_to(round.latency_ms);
  json.at("sink_receive_ms").get_to(round.sink_receive_ms);
  json.at("window").get_to(round.window);
  json.at("intervals_s").get_to(round.intervals_s);
  for (const Json& samples : json.at("stages")) {
    StageSamples& stage = round.stages.emplace_back();
    samples.at("compute_ms").get_to(stage.compute_ms);
    samples.at("queue_ms").get_to(stage.queue_ms);
    samples.at("receive_ms").get_to(stage.receive_ms);
    samples.at("encode_ms").get_to(stage.encode_ms);
    if (samples.contains("cpu_ms")) samples.at("cpu_ms").get_to(stage.cpu_ms);
    if (samples.contains("busy_ms")) samples.at("busy_ms").get_to(stage.busy_ms);
    if (samples.contains("busy_cpu_ms")) samples.at("busy_cpu_ms").get_to(stage.busy_cpu_ms);
  }
  if (round.stages.size() != stages || round.window < 1) {
    return fail(ErrorCode::kCorrupt, "round {} has samples of {} stages, its plan {}; window {}",
                round.round, round.stages.size(), stages, round.window);
  }
  return round;
}

Json output_error_json(const OutputError& error) {
  // What is infinite or no number becomes null.
  return {{"max", error.max}, {"mean", error.mean}, {"top1_agreement", error.top1_agreement}};
}

Json network_json(const NetworkFigures& network) {
  return {{"round_trip_ms", network.round_trip_ms},
          {"round_trip_deviation_ms", network.round_trip_deviation_ms},
          {"forward_mbit_per_s", network.forward_mbit_per_s},
          {"backward_mbit_per_s", network.backward_mbit_per_s},
          {"forward_loss", network.forward_loss},
          {"backward_loss", network.backward_loss},
          {"emulator", network.emulator}};
}

NetworkFigures network_from(const Json& json) {
  const auto number = [&](const char* key) { return json.at(key).get<double>(); };
  return {number("round_trip_ms"),
          number("round_trip_deviation_ms"),
          number("forward_mbit_per_s"),
          number("backward_mbit_per_s"),
          number("forward_loss"),
          number("backward_loss"),
          json.value("emulator", NetworkFigures{}.emulator)};
}

Json prediction_json(const Prediction& prediction) {
  return {{"latency_ms", prediction.latency_ms},
          {"samples_per_s", prediction.samples_per_s},
          {"expected_latency_ms", prediction.expected_latency_ms},
          {"expected_samples_per_s", prediction.expected_samples_per_s},
          {"latency_deviation", prediction.latency_deviation},
          {"throughput_deviation", prediction.throughput_deviation}};
}

Prediction prediction_from(const Json& json) {
  const auto number = [&](const char* key) { return json.at(key).get<double>(); };
  return {number("latency_ms"),          number("samples_per_s"),
          number("expected_latency_ms"), number("expected_samples_per_s"),
          number("latency_deviation"),   number("throughput_deviation")};
}

double number_or_infinite(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::infinity();
}

Expected<> read_details(const Json& json, TrialRecord& trial) {
  PARETO_ASSIGN(trial.plan, plan_from_json(json.at("plan").dump()));
  // Runs of before there was a choice lack it.
  trial.auto_codec = json.value("auto_codec", false);
  trial.name = json.value("name", "");
  if (trial.split) PARETO_TRY(read_cuts(json, trial.plan, *trial.split));
  if (json.contains("output_error")) {
    const Json& error = json.at("output_error");
    trial.output_error =
        OutputError{number_or_infinite(error.at("max")), number_or_infinite(error.at("mean")),
                    error.at("top1_agreement").get<double>()};
  }
  if (json.contains("network")) trial.network = network_from(json.at("network"));
  if (json.contains("predicted")) trial.prediction = prediction_from(json.at("predicted"));
  for (const Json& stage : json.at("stages")) trial.stages.push_back(stage_from(stage));
  for (const Json& link : json.at("links")) trial.links.push_back(link_from(link));
  if (!trial.links.empty() && trial.links.size() != trial.plan.links()) {
    return fail(ErrorCode::kCorrupt, "figures of {} links, its plan has {}", trial.links.size(),
                trial.plan.links());
  }
  for (const Json& round : json.at("rounds")) {
    PARETO_ASSIGN(TrialRound read, round_from(round, trial.plan.stages.size()));
    trial.rounds.push_back(std::move(read));
  }
  return {};
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
                    {"fastest", id(at.best.fastest)},
                    {"most_productive", id(at.best.most_productive)},
                    {"fastest_split", id(at.split.fastest)},
                    {"most_productive_split", id(at.split.most_productive)},
                    {"fastest_unsplit", id(at.unsplit.fastest)},
                    {"most_productive_unsplit", id(at.unsplit.most_productive)}});
  }
  return json;
}

Json spent_json(const TimeSpent& spent) {
  return {{"total_s", spent.total_s},       {"measuring_s", spent.measuring_s},
          {"sentinel_s", spent.sentinel_s}, {"loading_s", spent.loading_s},
          {"opening_s", spent.opening_s},   {"network_s", spent.network_s}};
}

/// Of the run, for those who read it.
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

/// As it is kept with its pass.
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
          json.at("openings_ms").get<std::vector<double>>()};
}

Json passes_json(const std::vector<PassRecord>& passes) {
  Json json = Json::array();
  for (const PassRecord& pass : passes) {
    json.push_back({{"round", pass.round},
                    {"repeat", pass.repeat},
                    {"sentinel_plan_ms", pass.plan_ms},
                    {"sentinel_loop_ms", pass.loop_ms},
                    {"seconds", pass.seconds}});
  }
  return json;
}

}  // namespace

std::string status_of(const TrialRecord& trial) {
  if (trial.status == TrialStatus::kFailed) return "failed";
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
    json["time_split_ms"] = {{"compute", trial.time_split.compute_ms},
                             {"transfer", trial.time_split.transfer_ms},
                             {"wait", trial.time_split.wait_ms}};
  }
  json["on_front"] = trial.on_front;
  json["p_front"] = trial.p_front;
  json["status"] = status;
  if (status == "failed") json["failure"] = trial.failure;
  return json;
}

Json to_json(const DeviceRecord& device) {
  return {{"name", device.name},
          {"address", device.address},
          {"threads", device.threads},
          {"cpu", device.cpu},
          {"memory_bytes", device.memory_bytes},
          {"torch", device.torch_version},
          {"weights_sent_bytes", device.weights_sent_bytes}};
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

Json to_json(const RunRecord& run) {
  Json options = Json::parse(run.options_json, nullptr, false);
  if (!options.is_object()) options = Json::object();
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
            {"options", std::move(options)},
            {"passes", passes_json(run.passes)},
            {"time", time_json(run)},
            {"note", run.note},
            {"devices", Json::array()},
            {"trials", Json::array()}};
  for (const DeviceRecord& device : run.devices) json["devices"].push_back(to_json(device));
  for (const TrialRecord& trial : run.trials) json["trials"].push_back(to_json(trial));
  json["front"] = front_ids(run);
  json["networks"] = networks_json(run);
  return json;
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string details_to_json(const TrialRecord& trial) {
  Json json{{"plan", plan_json(trial.plan)},
            {"auto_codec", trial.auto_codec},
            {"cuts", trial.split ? kept_cuts(*trial.split) : Json::array()},
            {"stages", Json::array()},
            {"links", Json::array()},
            {"rounds", Json::array()}};
  if (!trial.name.empty()) json["name"] = trial.name;
  if (trial.network) json["network"] = network_json(*trial.network);
  if (trial.prediction) json["predicted"] = prediction_json(*trial.prediction);
  if (trial.output_error) json["output_error"] = output_error_json(*trial.output_error);
  for (const StageFigures& stage : trial.stages) json["stages"].push_back(stage_json(stage));
  for (const LinkFigures& link : trial.links) json["links"].push_back(link_json(link));
  for (const TrialRound& round : trial.rounds) json["rounds"].push_back(round_json(round));
  return dump(json);
}

Expected<> details_from_json(const std::string& text, TrialRecord& trial) {
  try {
    return with_context(read_details(Json::parse(text), trial), "trial {}", trial.id);
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, "trial {}: {}", trial.id, error.what());
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
    for (const Json& json : Json::parse(text)) {
      DeviceRecord& device = devices.emplace_back();
      json.at("name").get_to(device.name);
      json.at("address").get_to(device.address);
      json.at("threads").get_to(device.threads);
      json.at("cpu").get_to(device.cpu);
      json.at("memory_bytes").get_to(device.memory_bytes);
      json.at("torch").get_to(device.torch_version);
      json.at("weights_sent_bytes").get_to(device.weights_sent_bytes);
    }
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, "the devices of a stored run: {}", error.what());
  }
  return devices;
}

std::string passes_to_json(const std::vector<PassRecord>& passes) {
  Json json = passes_json(passes);
  for (std::size_t i = 0; i < passes.size(); ++i) json[i]["spent"] = kept_spent(passes[i].spent);
  return dump(json);
}

Expected<std::vector<PassRecord>> passes_from_json(const std::string& text) {
  std::vector<PassRecord> passes;
  try {
    for (const Json& json : Json::parse(text)) {
      PassRecord& pass = passes.emplace_back();
      json.at("round").get_to(pass.round);
      json.at("repeat").get_to(pass.repeat);
      json.at("sentinel_plan_ms").get_to(pass.plan_ms);
      json.at("sentinel_loop_ms").get_to(pass.loop_ms);
      pass.seconds = json.value("seconds", 0.0);
      if (json.contains("spent")) pass.spent = spent_from(json.at("spent"));
    }
  } catch (const Json::exception& error) {
    return fail(ErrorCode::kCorrupt, "the passes of a stored run: {}", error.what());
  }
  return passes;
}

}  // namespace pareto::client
