// The calls of the control service that tell how this device is, and change nothing.
#include "core/base/cpu_time.h"
#include "daemon/control/answer.h"
#include "daemon/control/control_service.h"

namespace pareto::daemon {

namespace v1 = control::v1;

namespace {

Nanoseconds clock_now() { return Nanoseconds(std::chrono::steady_clock::now().time_since_epoch()); }

void fill(const DurationCounts& durations, v1::Durations& wire) {
  for (const std::uint64_t count : durations.counts) wire.add_counts(count);
  wire.set_sum_ns(durations.sum.count());
}

void fill(const StageActivity& stage, v1::StageActivity& wire) {
  fill(stage.status, *wire.mutable_status());
  wire.set_model(stage.model);
  wire.set_begin(stage.begin);
  wire.set_end(stage.end);
  wire.set_engine(stage.engine);
  wire.set_answered(stage.answered);
  wire.set_in_flight(stage.in_flight);
  fill(stage.wait, *wire.mutable_wait());
  fill(stage.compute, *wire.mutable_compute());
  wire.set_receiving_ns(stage.receiving.count());
  wire.set_sending_ns(stage.sending.count());
  wire.set_round_trip_ns(stage.round_trip.count());
  wire.set_link_bytes_per_second(stage.link_bytes_per_second);
}

void fill(const MachineState& state, v1::MachineState& wire) {
  if (state.temperature_celsius) wire.set_temperature_celsius(*state.temperature_celsius);
  if (state.frequency_hertz) wire.set_frequency_hertz(*state.frequency_hertz);
  if (state.frequency_max_hertz) wire.set_frequency_max_hertz(*state.frequency_max_hertz);
  for (const std::string& governor : state.governors) wire.add_governors(governor);
  for (const std::string& cause : state.throttled) wire.add_throttled(cause);
  wire.set_throttle_events(state.throttle_events);
  wire.set_processors_ns(state.load.busy.count());
  wire.set_processors(static_cast<std::uint32_t>(state.load.processors));
  wire.set_load(state.load.load);
  wire.set_quota_periods(state.quota.periods);
  wire.set_quota_periods_throttled(state.quota.throttled_periods);
}

}  // namespace

void fill(const StageStatus& status, v1::StageStatus& wire) {
  wire.set_pipeline(status.pipeline);
  wire.set_stage(status.stage);
  wire.set_shard(status.shard);
  wire.set_state(std::string(to_string(status.state)));
  wire.set_failure(status.failure);
  wire.set_requests(status.requests);
  wire.set_failed_requests(status.failed_requests);
  wire.set_bytes_received(status.bytes_received);
  wire.set_bytes_sent(status.bytes_sent);
}

grpc::Status ControlService::Status(grpc::ServerContext*, const v1::StatusRequest* request,
                                    v1::StatusReply* reply) {
  return answer("Status", [&]() -> Expected<> {
    PARETO_TRY(sessions_.check(request->session()));
    for (const ShardCache::Entry& entry : parts_.shards.entries()) {
      auto& wire = *reply->add_shards();
      wire.set_shard(entry.shard->handle());
      wire.set_model(entry.shard->shard().model);
      wire.set_begin(entry.shard->shard().begin);
      wire.set_end(entry.shard->shard().end);
      wire.set_engine(entry.shard->report().engine);
      wire.set_weight_bytes(entry.shard->shard().weight_bytes());
      wire.set_users(entry.users);
    }
    for (const StageStatus& stage : parts_.stages.status()) fill(stage, *reply->add_stages());
    const MemoryReading memory = parts_.memory();
    reply->set_resident_bytes(memory.resident_bytes);
    reply->set_peak_resident_bytes(memory.peak_resident_bytes);
    const TensorStore::Status store = parts_.store.status();
    reply->set_store_bytes(store.bytes);
    reply->set_store_tensors(store.tensors);
    return {};
  });
}

grpc::Status ControlService::Observe(grpc::ServerContext*, const v1::ObserveRequest* request,
                                     v1::ObserveReply* reply) {
  return answer("Observe", [&]() -> Expected<> {
    const MemoryReading memory = parts_.memory();
    reply->set_resident_bytes(memory.resident_bytes);
    v1::MachineState& machine = *reply->mutable_machine();
    fill(parts_.machine_state(), machine);
    machine.set_memory_bytes(memory.total_bytes);
    machine.set_memory_available_bytes(memory.available_bytes);
    if (const auto able = parts_.network.check_able(); !able) {
      machine.set_netem_problem(able.error().message);
    }
    const SessionTable::Company company = sessions_.company(request->session());
    reply->set_other_coordinators(company.coordinators);
    reply->set_other_pipelines(company.pipelines);
    // Together, after all that may take its time: rates are differences of these by the clock.
    for (const StageActivity& stage : parts_.stages.activity()) fill(stage, *reply->add_stages());
    reply->set_cpu_ns(process_cpu_time().count());
    reply->set_clock_ns(clock_now().count());
    return {};
  });
}

grpc::Status ControlService::Clock(grpc::ServerContext*, const v1::ClockRequest*,
                                   v1::ClockReply* reply) {
  const Nanoseconds received = clock_now();
  return answer("Clock", [&]() -> Expected<> {
    reply->set_received_ns(received.count());
    reply->set_answered_ns(clock_now().count());
    return {};
  });
}

}  // namespace pareto::daemon
