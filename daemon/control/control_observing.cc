// The calls of the control service that tell how this device is, and change nothing.
#include "core/base/cpu_time.h"
#include "core/control/wire.h"
#include "daemon/control/answer.h"
#include "daemon/control/control_service.h"

namespace pareto::daemon {

namespace v1 = control::v1;

namespace {

Nanoseconds clock_now() { return Nanoseconds(std::chrono::steady_clock::now().time_since_epoch()); }

}  // namespace

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
    for (const control::StageReport& stage : parts_.stages.status()) {
      *reply->add_stages() = control::to_wire(stage);
    }
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
    control::MachineState machine = parts_.machine_state();
    machine.memory_bytes = memory.total_bytes;
    machine.memory_available_bytes = memory.available_bytes;
    if (const auto able = parts_.network.check_able(); !able) {
      machine.netem_problem = able.error().message;
    }
    *reply->mutable_machine() = control::to_wire(machine);
    const SessionTable::Company company = sessions_.company(request->session());
    reply->set_other_coordinators(company.coordinators);
    reply->set_other_pipelines(company.pipelines);
    // Together, after all that may take its time: rates are differences of these by the clock.
    for (const WatchedStage& stage : parts_.stages.watch()) {
      *reply->add_stages() = control::to_wire(stage.activity);
    }
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
