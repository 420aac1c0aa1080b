#include "coordinator/results/figures_json.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "coordinator/results/disturbances.h"
#include "coordinator/results/whole_numbers.h"

namespace pareto::results {
namespace {

using Json = nlohmann::ordered_json;

double number_or_infinite(const Json& json) {
  return json.is_number() ? json.get<double>() : std::numeric_limits<double>::infinity();
}

/// Returns null for 0, which means that there is no figure.
Json figure_or_null(double figure) { return figure > 0 ? Json(figure) : Json(nullptr); }
Json or_null(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

}  // namespace

Json stage_json(const StageFigures& stage) {
  Json json{{"device", stage.device},
            {"engine", stage.engine},
            {"precision", stage.precision},
            {"compute_ms", {{"p50", stage.compute_p50_ms}}},
            {"queue_ms", {{"p50", stage.queue_p50_ms}}},
            {"receive_ms", {{"p50", stage.receive_p50_ms}}},
            {"encode_ms", {{"p50", stage.encode_p50_ms}}},
            {"peak_memory_bytes", stage.peak_memory_bytes},
            {"weight_bytes", stage.weight_bytes}};
  if (!stage.precision_reason.empty()) json["precision_reason"] = stage.precision_reason;
  if (!stage.schedule.empty()) json["schedule"] = stage.schedule;
  if (!stage.schedule_reason.empty()) json["schedule_reason"] = stage.schedule_reason;
  return json;
}

StageFigures stage_from(const Json& json) {
  StageFigures stage;
  json.at("device").get_to(stage.device);
  json.at("engine").get_to(stage.engine);
  json.at("compute_ms").at("p50").get_to(stage.compute_p50_ms);
  json.at("queue_ms").at("p50").get_to(stage.queue_p50_ms);
  json.at("receive_ms").at("p50").get_to(stage.receive_p50_ms);
  json.at("encode_ms").at("p50").get_to(stage.encode_p50_ms);
  read_whole(json, "peak_memory_bytes", stage.peak_memory_bytes);
  read_whole(json, "weight_bytes", stage.weight_bytes);
  // Runs of earlier versions know none of these.
  stage.precision = json.value("precision", "");
  stage.precision_reason = json.value("precision_reason", "");
  stage.schedule = json.value("schedule", "");
  stage.schedule_reason = json.value("schedule_reason", "");
  return stage;
}

Json link_json(const LinkFigures& link) {
  return {{"transfer_ms", {{"p50", link.transfer_p50_ms}}},
          {"bytes", link.bytes},
          {"wire_bytes", link.wire_bytes}};
}

LinkFigures link_from(const Json& json) {
  LinkFigures link;
  json.at("transfer_ms").at("p50").get_to(link.transfer_p50_ms);
  read_whole(json, "bytes", link.bytes);
  read_whole(json, "wire_bytes", link.wire_bytes);
  return link;
}

Json network_json(const NetworkFigures& network) {
  return {{"round_trip_ms", network.round_trip_ms},
          {"round_trip_deviation_ms", or_null(network.round_trip_deviation_ms)},
          {"forward_mbit_per_s", network.forward_mbit_per_s},
          {"backward_mbit_per_s", network.backward_mbit_per_s},
          {"forward_loss", or_null(network.forward_loss)},
          {"backward_loss", or_null(network.backward_loss)},
          {"emulator", network.emulator}};
}

NetworkFigures network_from(const Json& json) {
  const auto number = [&](const char* key) { return json.at(key).get<double>(); };
  const auto known = [&](const char* key) {
    const Json& held = json.at(key);
    return held.is_null() ? std::nullopt : std::optional(held.get<double>());
  };
  return {number("round_trip_ms"),
          known("round_trip_deviation_ms"),
          number("forward_mbit_per_s"),
          number("backward_mbit_per_s"),
          known("forward_loss"),
          known("backward_loss"),
          json.value("emulator", NetworkFigures{}.emulator)};
}

Json prediction_json(const Prediction& prediction) {
  return {{"latency_ms", prediction.latency_ms},
          {"samples_per_s", prediction.samples_per_s},
          {"window", prediction.window},
          {"expected_latency_ms", prediction.expected_latency_ms},
          {"expected_samples_per_s", prediction.expected_samples_per_s},
          {"latency_deviation", prediction.latency_deviation},
          {"throughput_deviation", prediction.throughput_deviation},
          {"latency_compute_share", prediction.latency_compute_share},
          {"throughput_compute_share", prediction.throughput_compute_share},
          {"doubted", prediction.doubted},
          {"seen_latency_ms", figure_or_null(prediction.seen_latency_ms)},
          {"seen_samples_per_s", figure_or_null(prediction.seen_samples_per_s)}};
}

Prediction prediction_from(const Json& json) {
  const auto number = [&](const char* key) { return json.at(key).get<double>(); };
  const auto seen = [&](const char* key) {
    const auto found = json.find(key);
    return found == json.end() || found->is_null() ? 0.0 : found->get<double>();
  };
  // Runs of earlier versions know no windows, shares and doubts, nor what was seen.
  return {number("latency_ms"),
          number("samples_per_s"),
          whole_number_at(json, "window", 0),
          number("expected_latency_ms"),
          number("expected_samples_per_s"),
          number("latency_deviation"),
          number("throughput_deviation"),
          json.value("latency_compute_share", 1.0),
          json.value("throughput_compute_share", 1.0),
          json.value("doubted", false),
          seen("seen_latency_ms"),
          seen("seen_samples_per_s")};
}

Json output_error_json(const OutputError& error) {
  return {{"max", error.max}, {"mean", error.mean}, {"top1_agreement", error.top1_agreement}};
}

OutputError output_error_from(const Json& json) {
  return {number_or_infinite(json.at("max")), number_or_infinite(json.at("mean")),
          json.at("top1_agreement").get<double>()};
}

Json accuracy_json(const AccuracyFigures& accuracy) {
  return {{"top1", accuracy.top1()},
          {"samples", accuracy.samples},
          {"right", accuracy.right},
          {"agreeing", accuracy.agreeing},
          {"uncut_right", accuracy.uncut_right},
          {"was_run", accuracy.was_run}};
}

AccuracyFigures accuracy_from(const Json& json) {
  const auto count = [&](const char* key) { return whole_number<std::int64_t>(json.at(key)); };
  const AccuracyFigures accuracy{count("samples"), count("right"), count("agreeing"),
                                 count("uncut_right"), json.at("was_run").get<bool>()};
  const auto is_share = [&](std::int64_t part) { return part >= 0 && part <= accuracy.samples; };
  if (accuracy.samples < 1 || !is_share(accuracy.right) || !is_share(accuracy.agreeing) ||
      !is_share(accuracy.uncut_right)) {
    throw Json::other_error::create(500, "more samples are right than there are", nullptr);
  }
  return accuracy;
}

Json spent_json(const TimeSpent& spent) {
  return {{"total_s", spent.total_s},       {"measuring_s", spent.measuring_s},
          {"sentinel_s", spent.sentinel_s}, {"loading_s", spent.loading_s},
          {"opening_s", spent.opening_s},   {"network_s", spent.network_s},
          {"requests", spent.requests}};
}

Json passes_json(const std::vector<PassRecord>& passes) {
  Json json = Json::array();
  for (const PassRecord& pass : passes) {
    json.push_back({{"round", pass.round},
                    {"repeat", pass.repeat},
                    {"whole", pass.whole},
                    {"sentinel_plan_ms", pass.plan_ms},
                    {"sentinel_loop_ms", pass.loop_ms},
                    {"seconds", pass.seconds},
                    {"others", to_json(pass.others)},
                    {"company", to_json(pass.company)}});
  }
  return json;
}

}  // namespace pareto::results
