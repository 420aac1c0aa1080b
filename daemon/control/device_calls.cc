#include "daemon/control/device_calls.h"

#include <algorithm>

#include "core/base/cpu_time.h"
#include "core/control/pipeline_name.h"
#include "core/control/wire.h"
#include "core/plan/protocol.h"
#include "core/tls/credentials.h"

namespace pareto::daemon {

namespace v1 = control::v1;

namespace {

Nanoseconds clock_now() { return Nanoseconds(std::chrono::steady_clock::now().time_since_epoch()); }

/// Returns an activity without what only its owner may know: who knows the whole id of a pipeline
/// can say hello to its stages.
control::StageActivity as_others_see_it(control::StageActivity activity) {
  activity.pipeline = control::public_name(activity.pipeline);
  activity.shard.clear();
  return activity;
}

}  // namespace

Expected<> describe_device(const ControlParts& parts, const v1::DescribeRequest& request,
                           v1::DescribeReply& reply) {
  const std::uint32_t oldest = request.oldest() == 0 ? request.protocol() : request.oldest();
  const std::uint32_t common = std::min(request.protocol(), plan::kProtocolVersion);
  if (common < std::max(oldest, plan::kOldestProtocol)) {
    return fail(ErrorCode::kInvalidArgument,
                "the coordinator speaks protocol {}, this daemon {} speaks {} and down to {}: "
                "install the same version on both",
                request.protocol(), PARETO_VERSION, plan::kProtocolVersion, plan::kOldestProtocol);
  }
  reply.set_protocol(common);
  reply.set_process(parts.process);
  reply.set_version(PARETO_VERSION);
  reply.set_name(parts.name);
  reply.set_cpu(parts.machine.cpu);
  reply.set_cores(parts.machine.cores);
  reply.set_os(parts.machine.os);
  reply.set_device(parts.default_device);
  reply.set_threads(static_cast<std::uint32_t>(parts.default_threads));
  reply.set_cpu_quota(parts.machine.cpu_quota);
  reply.set_imitated(parts.machine.imitated);
  reply.mutable_place()->set_boot_id(parts.place.boot);
  reply.mutable_place()->set_network_namespace(parts.place.network);
  reply.mutable_place()->set_user(parts.place.user);
  reply.set_memory_bytes(parts.memory().total_bytes);
  reply.set_memory_limit_bytes(parts.shards.memory_limit_bytes());
  reply.set_torch_version(parts.runtime.torch_version);
  reply.set_fast_bf16(parts.runtime.fast_bf16);
  reply.set_cuda_devices(static_cast<std::uint32_t>(parts.runtime.cuda_devices));
  for (const std::string& engine : parts.engines) reply.add_engines(engine);
  for (const DataAddress& address : parts.stages.addresses()) {
    auto& data = *reply.add_data();
    data.set_transport(address.transport);
    data.set_address(address.address);
  }
  const device::DeviceScheduler::Reading turns = parts.stages.turns().read();
  reply.set_turns(turns.policy);
  reply.set_trains(true);
  reply.set_insecure(parts.insecure);
  if (parts.credentials) {
    reply.set_certificate_expires(parts.credentials->expiry().time_since_epoch().count());
  }
  reply.set_limit_cores(static_cast<std::uint32_t>(parts.limit_cores));
  if (turns.busy_limit < 1) reply.set_limit_busy(turns.busy_limit);
  const TensorStore::Status store = parts.store.status();
  reply.set_max_frame_bytes(parts.stages.max_frame_bytes());
  reply.set_store_bytes(store.bytes);
  reply.set_store_limit_bytes(store.limit_bytes);
  reply.set_store_free_bytes(store.free_bytes);
  return {};
}

void report_status(const ControlParts& parts, const SessionTable& sessions,
                   const v1::StatusRequest& request, v1::StatusReply& reply) {
  const SessionTable::Holdings own = sessions.holdings(request.session());
  std::uint32_t other_shards = 0;
  for (const ShardCache::Entry& entry : parts.shards.entries()) {
    if (!own.shards.contains(entry.shard->handle())) {
      ++other_shards;
      continue;
    }
    auto& wire = *reply.add_shards();
    wire.set_shard(entry.shard->handle());
    wire.set_model(entry.shard->shard().model);
    wire.set_begin(entry.shard->shard().begin);
    wire.set_end(entry.shard->shard().end);
    wire.set_engine(entry.shard->report().engine);
    wire.set_weight_bytes(entry.shard->shard().weight_bytes());
    wire.set_users(entry.users);
  }
  std::uint32_t other_stages = 0;
  for (const control::StageReport& stage : parts.stages.status()) {
    if (own.stages.contains({stage.pipeline, stage.stage})) {
      *reply.add_stages() = control::to_wire(stage);
    } else {
      ++other_stages;
    }
  }
  reply.set_other_shards(other_shards);
  reply.set_other_stages(other_stages);
  const MemoryReading memory = parts.memory();
  reply.set_resident_bytes(memory.resident_bytes);
  reply.set_peak_resident_bytes(memory.peak_resident_bytes);
  const TensorStore::Status store = parts.store.status();
  reply.set_store_bytes(store.bytes);
  reply.set_store_tensors(store.tensors);
}

void observe_device(const ControlParts& parts, const SessionTable& sessions, const Caller& caller,
                    std::uint64_t session, v1::ObserveReply& reply) {
  const MemoryReading memory = parts.memory();
  reply.set_resident_bytes(memory.resident_bytes);
  control::MachineState machine = parts.machine_state();
  machine.memory_bytes = memory.total_bytes;
  machine.memory_available_bytes = memory.available_bytes;
  if (const auto able = parts.network.check_able(); !able) {
    machine.netem_problem = able.error().message;
  }
  *reply.mutable_machine() = control::to_wire(machine);
  const SessionTable::Company company = sessions.company(session);
  const SessionTable::Holdings own = sessions.holdings(session);
  reply.set_other_coordinators(company.coordinators);
  reply.set_other_pipelines(company.pipelines);
  if (caller.role() == tls::Role::kCoordinator) {
    for (const control::Holder& holder :
         sessions.holders(session, std::chrono::steady_clock::now())) {
      *reply.add_holders() = control::to_wire(holder);
    }
  }
  // Together, after all that may take its time: rates are differences of these by the clock.
  for (const WatchedStage& stage : parts.stages.watch()) {
    const bool is_own = own.stages.contains({stage.activity.pipeline, stage.activity.stage});
    if (is_own) *reply.add_stages() = control::to_wire(stage.activity);
    if (is_own || caller.role() != tls::Role::kCoordinator) continue;
    *reply.add_stages() = control::to_wire(as_others_see_it(stage.activity));
  }
  const device::DeviceScheduler::Reading turns = parts.stages.turns().read();
  reply.set_turns_ns(turns.busy.count());
  reply.set_turn_cores(static_cast<std::uint32_t>(turns.cores));
  reply.set_cpu_ns(process_cpu_time().count());
  reply.set_clock_ns(clock_now().count());
}

void read_clock(v1::ClockReply& reply) {
  reply.set_received_ns(clock_now().count());
  reply.set_answered_ns(clock_now().count());
}

}  // namespace pareto::daemon
