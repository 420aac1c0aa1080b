#include "daemon/metrics/daemon_metrics.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/control/pipeline_name.h"
#include "core/metrics/certificate_metric.h"
#include "core/metrics/process_metrics.h"
#include "core/plan/protocol.h"
#include "daemon/metrics/machine_sensors.h"

namespace pareto::daemon {
namespace {

using metrics::Families;
using metrics::Family;
using metrics::Kind;
using metrics::Labels;
using metrics::single;

template <typename Number>
double value_of(Number number) {
  return static_cast<double>(number);
}

Labels place_labels(const StagePlace& place) {
  if (place == StageMeters::kShared) return {{"stage", "other"}, {"slot", "other"}};
  return {{"stage", std::to_string(place.stage)}, {"slot", std::to_string(place.slot)}};
}

/// One sample a place.
class StageFamily {
 public:
  StageFamily(const char* name, const char* help, Kind kind) : family_{name, help, kind, {}} {}

  void add(const StagePlace& place, double value, Labels more = {}) {
    Labels labels = place_labels(place);
    labels.insert(labels.end(), more.begin(), more.end());
    family_.samples.push_back({std::move(labels), value, {}});
  }
  void add(const StagePlace& place, const DurationCounts& durations) {
    family_.samples.push_back({place_labels(place), 0, durations});
  }
  Family take() { return std::move(family_); }

 private:
  Family family_;
};

void add_stages(Families& families, const StageHost& stages) {
  constexpr std::array kStates{control::StageState::kOpening, control::StageState::kRunning,
                               control::StageState::kDraining, control::StageState::kFailed,
                               control::StageState::kClosed};
  std::array<std::size_t, kStates.size()> count{};
  for (const control::StageReport& status : stages.status()) {
    ++count.at(static_cast<std::size_t>(status.state));
  }
  Family family{"pareto_stages", "Stages that are open, by their state", Kind::kGauge, {}};
  for (const control::StageState state : kStates) {
    family.samples.push_back({{{"state", std::string(to_string(state))}},
                              value_of(count.at(static_cast<std::size_t>(state))),
                              {}});
  }
  families.push_back(std::move(family));
}

/// Adds what each stage that is open runs, by the labels of its figures. Stages that share a place
/// are left out: no figure is of one of them.
void add_stage_info(Families& families, const StageHost& stages) {
  StageFamily info("pareto_stage_info",
                   "1, of what a stage that is open runs: operators begin to end of a model",
                   Kind::kGauge);
  for (const auto& [place, stage] : stages.watch()) {
    const control::StageState state = stage.state;
    if (state == control::StageState::kFailed || state == control::StageState::kClosed) continue;
    if (place == StageMeters::kShared) continue;
    info.add(place, 1.0,
             {{"pipeline", control::pipeline_name(stage.pipeline)},
              {"model", stage.model},
              {"engine", stage.engine},
              {"begin", std::to_string(stage.begin)},
              {"end", std::to_string(stage.end)}});
  }
  families.push_back(info.take());
}

void add_meters(Families& families, const StageMeters& meters) {
  StageFamily compute("pareto_stage_compute_seconds", "Running the shard, for one request",
                      Kind::kHistogram);
  StageFamily wait("pareto_stage_wait_seconds",
                   "Waiting for the shard: behind other requests, and other pipelines",
                   Kind::kHistogram);
  StageFamily turn_wait("pareto_stage_turn_wait_seconds",
                        "Waiting for a turn of the device: other pipelines, and its limits",
                        Kind::kHistogram);
  StageFamily requests("pareto_requests_total",
                       "Requests that left a stage with its values (ok), failed in it (failed), or "
                       "were not computed because their deadline had passed (dropped)",
                       Kind::kCounter);
  StageFamily in_flight("pareto_requests_in_flight",
                        "Requests that a stage has received and not yet sent on", Kind::kGauge);
  StageFamily failures("pareto_stage_failures_total",
                       "Stages that ended because a link broke or a peer misbehaved",
                       Kind::kCounter);
  StageFamily silent("pareto_stage_silent_links_total",
                     "Links of stages that ended because their peers showed no sign of life",
                     Kind::kCounter);
  StageFamily received("pareto_link_received_bytes_total",
                       "Bytes of requests received from the stage before, headers included",
                       Kind::kCounter);
  StageFamily sent("pareto_link_sent_bytes_total",
                   "Bytes of results sent to the next stage, headers included", Kind::kCounter);
  StageFamily round_trip("pareto_link_round_trip_seconds",
                         "Smallest round trip to the next stage, seen when the pipeline was "
                         "deployed",
                         Kind::kGauge);
  StageFamily rate("pareto_link_rate_bytes_per_second",
                   "Rate to the next stage, seen when the pipeline was deployed", Kind::kGauge);
  StageFamily profiled("pareto_stage_profiled_compute_seconds",
                       "What running the shard takes by the device's profile", Kind::kGauge);
  StageFamily workers("pareto_stage_worker_seconds_total",
                      "Computing of each worker of the schedule that a stage runs by",
                      Kind::kCounter);
  for (const MeterReading& reading : meters.read()) {
    const StagePlace& place = reading.place;
    compute.add(place, reading.compute);
    wait.add(place, reading.wait);
    turn_wait.add(place, reading.turn_wait);
    requests.add(place, value_of(reading.answered), {{"outcome", "ok"}});
    // Counted one after the other, and read in between.
    const std::uint64_t dropped = std::min(reading.dropped, reading.failed);
    requests.add(place, value_of(reading.failed - dropped), {{"outcome", "failed"}});
    requests.add(place, value_of(dropped), {{"outcome", "dropped"}});
    in_flight.add(place, value_of(reading.in_flight));
    failures.add(place, value_of(reading.broken_stages));
    silent.add(place, value_of(reading.silent_links));
    received.add(place, value_of(reading.bytes_received));
    sent.add(place, value_of(reading.bytes_sent));
    for (std::size_t i = 0; i < reading.workers.size(); ++i) {
      workers.add(place, to_seconds(reading.workers[i]), {{"worker", std::to_string(i)}});
    }
    if (reading.round_trip) round_trip.add(place, to_seconds(*reading.round_trip));
    if (reading.link_bytes_per_second) rate.add(place, value_of(*reading.link_bytes_per_second));
    if (reading.profiled_compute) profiled.add(place, to_seconds(*reading.profiled_compute));
  }
  for (StageFamily* family :
       {&compute, &workers, &wait, &turn_wait, &requests, &in_flight, &failures, &silent, &received,
        &sent, &round_trip, &rate, &profiled}) {
    families.push_back(family->take());
  }
}

void add_turns(Families& families, const device::DeviceScheduler& scheduler) {
  const device::DeviceScheduler::Reading turns = scheduler.read();
  families.push_back(single("pareto_device_busy_core_seconds_total",
                            "Core time for which stages held turns to compute", Kind::kCounter,
                            to_seconds(turns.busy)));
  families.push_back(single("pareto_device_cores", "Cores that stages may compute on together",
                            Kind::kGauge, value_of(turns.cores)));
  families.push_back(single("pareto_device_requests_waiting", "Requests that wait for a turn",
                            Kind::kGauge, value_of(turns.waiting)));
  if (turns.busy_limit >= 1) return;
  families.push_back(single("pareto_device_busy_limit_ratio",
                            "Share of the time for which these cores may compute (limits: busy)",
                            Kind::kGauge, turns.busy_limit));
}

void add_shards(Families& families, const ShardCache& shards) {
  std::uint64_t weights = 0;
  const std::vector<ShardCache::Entry> entries = shards.entries();
  for (const ShardCache::Entry& entry : entries) {
    weights += entry.shard->report().weight_bytes;
  }
  families.push_back(
      single("pareto_shards", "Shards that are loaded", Kind::kGauge, value_of(entries.size())));
  families.push_back(single("pareto_shard_weights_bytes",
                            "Weights of the shards that are loaded, each shard's counted whole",
                            Kind::kGauge, value_of(weights)));
  families.push_back(single("pareto_shard_memory_bytes",
                            "Memory that the shards that are loaded take, what they share once",
                            Kind::kGauge, value_of(shards.memory_bytes())));
  if (const std::uint64_t limit = shards.memory_limit_bytes(); limit > 0) {
    families.push_back(single("pareto_shard_memory_limit_bytes",
                              "Memory that all shards together may take (memory_limit)",
                              Kind::kGauge, value_of(limit)));
  }
}

void add_store(Families& families, const TensorStore& store) {
  const TensorStore::Status status = store.status();
  families.push_back(
      single("pareto_store_bytes", "Weights kept on disk", Kind::kGauge, value_of(status.bytes)));
  families.push_back(single("pareto_store_in_use_bytes", "Weights kept on disk of loaded shards",
                            Kind::kGauge, value_of(status.in_use_bytes)));
  families.push_back(single("pareto_store_free_bytes",
                            "Free space of the file system that holds these weights", Kind::kGauge,
                            value_of(status.free_bytes)));
  families.push_back(single("pareto_store_dropped_bytes_total",
                            "Weights that made room on disk for others", Kind::kCounter,
                            value_of(status.dropped_bytes)));
  families.push_back(single("pareto_store_limit_bytes",
                            "Weights that may be kept on disk (store_limit)", Kind::kGauge,
                            value_of(status.limit_bytes)));
  families.push_back(single("pareto_store_tensors", "Tensors kept on disk", Kind::kGauge,
                            value_of(status.tensors)));
}

void add_memory(Families& families, const MemoryReading& memory) {
  if (memory.total_bytes == 0) return;
  families.push_back(single("pareto_machine_memory_bytes",
                            "Memory of this machine, or what this process's control group may take",
                            Kind::kGauge, value_of(memory.total_bytes)));
  families.push_back(single("pareto_machine_memory_available_bytes",
                            "Memory of it that could be given without swapping", Kind::kGauge,
                            value_of(memory.available_bytes)));
}

}  // namespace

Families daemon_metrics(const MetricsParts& parts) {
  Families families;
  families.push_back({"pareto_build_info",
                      "1, of this version of paretod, its protocol and its LibTorch",
                      Kind::kGauge,
                      {{{{"version", PARETO_VERSION},
                         {"protocol", std::to_string(plan::kProtocolVersion)},
                         {"torch", parts.torch_version}},
                        1,
                        {}}}});
  add_stages(families, parts.stages);
  add_stage_info(families, parts.stages);
  add_meters(families, parts.stages.meters());
  add_turns(families, parts.stages.turns());
  add_shards(families, parts.shards);
  add_store(families, parts.store);
  add_memory(families, parts.memory());
  families.push_back(metrics::certificate_metric(parts.certificate));
  if (parts.credentials != nullptr) {
    metrics::add_expiry(families.back(), "control", parts.credentials->expiry());
  }
  families.push_back(single("pareto_insecure", "1 if everybody is let in (paretod --insecure)",
                            Kind::kGauge, parts.insecure ? 1 : 0));
  for (Families& more :
       std::array<Families, 2>{machine_sensors(parts.sysfs), metrics::process_metrics()}) {
    families.insert(families.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
  }
  metrics::add_label(families, "device", parts.name);
  return families;
}

}  // namespace pareto::daemon
