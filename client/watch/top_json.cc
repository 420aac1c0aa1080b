#include "client/watch/top_json.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/json_text.h"
#include "core/control/pipeline_name.h"

namespace pareto::watch {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json device_json(const DeviceView& device) {
  const DeviceReading& reading = device.reading;
  Json json{
      {"device", reading.name}, {"address", reading.address}, {"well", reading.problem.empty()}};
  if (!reading.problem.empty()) {
    json["problem"] = reading.problem;
    return json;
  }
  const control::MachineState& machine = reading.observation.machine;
  json["interval_s"] = or_null(device.seconds);
  json["cores"] = reading.cores;
  json["runs_on"] = reading.runs_on;
  json["imitated"] = reading.imitated;
  json["cpu"] = or_null(device.cpu);
  json["turns"] = or_null(device.turns);
  json["resident_bytes"] = reading.observation.resident_bytes;
  json["memory_bytes"] = machine.memory_bytes;
  json["memory_available_bytes"] = machine.memory_available_bytes;
  json["temperature_celsius"] = or_null(machine.temperature_celsius);
  json["frequency_hertz"] = or_null(machine.frequency_hertz);
  json["frequency_max_hertz"] = or_null(machine.frequency_max_hertz);
  json["throttled"] = machine.throttled;
  json["throttle_events"] = machine.throttle_events;
  json["used_by"] = Json::array();
  for (const control::Holder& holder : reading.observation.holders) {
    json["used_by"].push_back(control::to_string(holder));
  }
  return json;
}

Json range_json(const DurationRange& range) { return {range.low_ms, or_null(range.high_ms)}; }

Json durations_json(const std::optional<DurationFigures>& durations) {
  if (!durations) return nullptr;
  return {{"mean", durations->mean_ms},
          {"p50", range_json(durations->p50)},
          {"p95", range_json(durations->p95)}};
}

Json rates_json(const std::optional<StageRates>& rates) {
  if (!rates) return nullptr;
  Json json{{"requests_per_s", rates->requests_per_s},
            {"failed_per_s", rates->failed_per_s},
            {"dropped_per_s", rates->dropped_per_s},
            {"bytes_in_per_s", rates->bytes_in_per_s},
            {"bytes_out_per_s", rates->bytes_out_per_s},
            {"computing", rates->computing},
            {"shard_computing", rates->shard_computing},
            {"receiving", rates->receiving},
            {"sending", rates->sending},
            {"compute_ms", durations_json(rates->compute)},
            {"wait_ms", durations_json(rates->wait)}};
  if (!rates->workers.empty()) json["workers"] = rates->workers;
  return json;
}

Json stage_json(const Activity& activity, const StageView& stage) {
  const control::StageActivity& now = stage.now;
  Json json{{"stage", now.stage},
            {"device", activity.devices.at(stage.device).reading.name},
            {"state", to_string(now.state)},
            {"begin", now.begin},
            {"end", now.end},
            {"engine", now.engine},
            {"in_flight", now.in_flight},
            {"rates", rates_json(stage.rates)}};
  if (!now.schedule.empty()) json["schedule"] = now.schedule;
  if (!now.failure.empty()) json["failure"] = now.failure;
  return json;
}

Json link_json(const LinkView& link) {
  Json json{
      {"from", link.from},          {"to", link.to},
      {"busy", or_null(link.busy)}, {"bytes_per_s", or_null(link.bytes_per_s)},
      {"round_trip_ms", nullptr},   {"carries_bytes_per_s", or_null(link.bytes_per_second_then)}};
  if (link.round_trip) json["round_trip_ms"] = to_milliseconds(*link.round_trip);
  return json;
}

Json bottleneck_json(const Bottleneck& bottleneck) {
  constexpr std::array<std::string_view, 8> kNames{"unknown", "idle", "pending", "none",
                                                   "stage",   "link", "failed",  "draining"};
  Json json{{"limit", kNames.at(static_cast<std::size_t>(bottleneck.limit))},
            {"words", bottleneck.words}};
  if (bottleneck.limit == Limit::kStage || bottleneck.limit == Limit::kLink) {
    json["index"] = bottleneck.index;
    json["share"] = bottleneck.share;
  }
  return json;
}

Json pipeline_json(const Activity& activity, const PipelineView& pipeline) {
  Json json{{"pipeline", control::pipeline_name(pipeline.id)},
            {"model", pipeline.model},
            {"requests_per_s", or_null(pipeline.requests_per_s)},
            {"in_flight", pipeline.in_flight},
            {"bottleneck", bottleneck_json(pipeline.bottleneck)},
            {"stages", Json::array()},
            {"links", Json::array()}};
  for (const StageView& stage : pipeline.stages) {
    json["stages"].push_back(stage_json(activity, stage));
  }
  for (const LinkView& link : pipeline.links) json["links"].push_back(link_json(link));
  return json;
}

}  // namespace

std::string top_json(const Activity& activity, const std::string& time) {
  Json json{{"time", time}, {"devices", Json::array()}, {"pipelines", Json::array()}};
  for (const DeviceView& device : activity.devices) json["devices"].push_back(device_json(device));
  for (const PipelineView& pipeline : activity.pipelines) {
    json["pipelines"].push_back(pipeline_json(activity, pipeline));
  }
  return dump(json);
}

}  // namespace pareto::watch
