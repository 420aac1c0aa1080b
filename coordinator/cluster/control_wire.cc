#include "coordinator/cluster/control_wire.h"

#include <algorithm>
#include <cmath>

#include "core/base/printable.h"
#include "core/control/digest_bytes.h"
#include "core/control/wire.h"

namespace pareto::cluster {

namespace v1 = control::v1;

namespace {

/// The end of the year 9999, the last that a certificate can name.
constexpr std::int64_t kLastExpiry = 253'402'300'799;

/// Returns the difference of two durations, which may be below 0. Fails: kCorrupt.
Expected<Nanoseconds> difference_from(std::int64_t nanoseconds) {
  if (nanoseconds >= 0) return control::duration_from(nanoseconds);
  PARETO_TRY(control::duration_from(-(nanoseconds + 1)));
  return Nanoseconds(nanoseconds);
}

int count_from(std::uint32_t count) {
  return static_cast<int>(std::min<std::uint32_t>(count, 1 << 16));
}

}  // namespace

v1::LoadShardRequest to_wire(const plan::Shard& shard, const control::ShardSettings& settings) {
  v1::LoadShardRequest request;
  request.set_manifest(plan::manifest_json(shard));
  request.set_archive(shard.archive);
  *request.mutable_settings() = control::to_wire(settings);
  return request;
}

v1::TensorChunk first_chunk(const NamedTensor& entry) {
  v1::TensorChunk chunk;
  chunk.set_digest(control::digest_bytes(entry.digest));
  chunk.set_dtype(static_cast<std::uint32_t>(entry.tensor.dtype()));
  for (const std::int64_t size : entry.tensor.shape()) chunk.add_shape(size);
  chunk.set_size_bytes(entry.tensor.size_bytes());
  return chunk;
}

v1::ProbeLinkRequest probe_request(const std::string& transport, const std::string& address,
                                   const transport::ProbeOptions& options,
                                   std::chrono::milliseconds timeout) {
  v1::ProbeLinkRequest request;
  request.set_transport(transport);
  request.set_address(address);
  request.set_timeout_ms(static_cast<std::uint32_t>(timeout.count()));
  for (const std::uint64_t size : options.sizes) request.add_sizes(size);
  request.set_budget_ns(options.budget.count());
  return request;
}

v1::EmulateRequest to_wire(const EmulationRequest& emulation, std::chrono::milliseconds lease) {
  v1::EmulateRequest request;
  request.set_interface(emulation.interface);
  request.set_condition(to_text(emulation.condition));
  request.set_name(emulation.name);
  request.set_lease_ms(static_cast<std::uint32_t>(lease.count()));
  request.set_control_interface_too(emulation.control_interface_too);
  return request;
}

v1::MeasureRateRequest rate_request(const std::string& transport, const std::string& address,
                                    std::chrono::milliseconds timeout) {
  v1::MeasureRateRequest request;
  request.set_transport(transport);
  request.set_address(address);
  request.set_timeout_ms(static_cast<std::uint32_t>(timeout.count()));
  return request;
}

v1::ProfileRequest profile_request(const std::string& handle, std::int64_t batch, int repeats,
                                   int operator_repeats) {
  v1::ProfileRequest request;
  request.set_shard(handle);
  request.set_batch(batch);
  request.set_repeats(static_cast<std::uint32_t>(repeats));
  request.set_operator_repeats(static_cast<std::uint32_t>(operator_repeats));
  return request;
}

v1::EmulateRequest renewal_of(std::uint64_t lease, bool end) {
  v1::EmulateRequest request;
  request.set_lease(lease);
  request.set_end(end);
  return request;
}

DeviceInfo from_wire(const v1::DescribeReply& reply, const std::string& address) {
  DeviceInfo info;
  info.version = printable(reply.version());
  info.protocol = reply.protocol();
  info.process = reply.process();
  info.cpu = printable(reply.cpu());
  info.cores = count_from(reply.cores());
  info.memory_bytes = reply.memory_bytes();
  info.memory_limit_bytes = reply.memory_limit_bytes();
  info.torch_version = printable(reply.torch_version());
  info.fast_bf16 = reply.fast_bf16();
  info.trains = reply.trains();
  info.cuda_devices = count_from(reply.cuda_devices());
  for (const std::string& engine : reply.engines()) info.engines.push_back(printable(engine));
  for (const auto& data : reply.data()) {
    info.data[printable(data.transport())] =
        resolve_data_address(printable(data.address()), address);
  }
  info.max_frame_bytes = reply.max_frame_bytes();
  info.store_bytes = reply.store_bytes();
  info.store_limit_bytes = reply.store_limit_bytes();
  info.os = printable(reply.os());
  info.device = printable(reply.device());
  info.threads = static_cast<int>(std::clamp<std::uint32_t>(reply.threads(), 1, 256));
  if (const double quota = reply.cpu_quota(); quota > 0) info.cpu_quota = std::min(quota, 1e6);
  info.imitated = reply.imitated();
  info.turns = printable(reply.turns());
  info.limit_cores = count_from(reply.limit_cores());
  // A limit below what daemons take would stretch predictions beyond all measure.
  if (const double busy = reply.limit_busy(); busy >= 0.01 && busy < 1) info.limit_busy = busy;
  info.insecure = reply.insecure();
  if (const std::int64_t expires = reply.certificate_expires(); expires > 0) {
    info.certificate_expires =
        std::chrono::sys_seconds(std::chrono::seconds(std::min(expires, kLastExpiry)));
  }
  info.store_free_bytes = reply.store_free_bytes();
  info.place = {reply.place().boot_id(), reply.place().network_namespace(), reply.place().user()};
  return info;
}

Expected<DeviceStatus> from_wire(const v1::StatusReply& reply) {
  DeviceStatus status;
  for (const auto& stage : reply.stages()) {
    PARETO_ASSIGN(control::StageReport report, control::from_wire(stage));
    status.stages.push_back(std::move(report));
  }
  for (const auto& shard : reply.shards()) status.shards.push_back(printable(shard.shard()));
  status.other_shards = reply.other_shards();
  status.other_stages = reply.other_stages();
  status.resident_bytes = reply.resident_bytes();
  status.peak_resident_bytes = reply.peak_resident_bytes();
  status.store_bytes = reply.store_bytes();
  status.store_tensors = reply.store_tensors();
  return status;
}

Expected<std::vector<wire::CodecCost>> from_wire(const v1::MeasureCodecsReply& reply) {
  std::vector<wire::CodecCost> costs;
  for (const auto& told : reply.costs()) {
    wire::CodecCost& cost = costs.emplace_back();
    cost.codec = printable(told.codec());
    cost.bytes = told.bytes();
    PARETO_ASSIGN(cost.encode, control::duration_from(told.encode_ns()));
    PARETO_ASSIGN(cost.decode, control::duration_from(told.decode_ns()));
    cost.error = told.error();
  }
  return costs;
}

Expected<ShardTimes> from_wire(const v1::ProfileReply& reply) {
  ShardTimes times;
  for (const std::int64_t time : reply.whole_ns()) {
    PARETO_ASSIGN(times.whole.emplace_back(), control::duration_from(time));
  }
  for (const auto& one : reply.operators()) {
    PARETO_ASSIGN(times.operators[one.position()], control::duration_from(one.median_ns()));
  }
  return times;
}

Expected<transport::ProbeResult> from_wire(const v1::ProbeLinkReply& reply) {
  transport::ProbeResult result;
  PARETO_ASSIGN(result.round_trip, control::duration_from(reply.round_trip_ns()));
  for (const auto& told : reply.points()) {
    transport::ProbePoint& point = result.points.emplace_back();
    point.bytes = told.bytes();
    PARETO_ASSIGN(point.crossing, difference_from(told.crossing_ns()));
    PARETO_ASSIGN(point.interval, control::duration_from(told.interval_ns()));
    PARETO_ASSIGN(point.send_cpu, control::duration_from(told.send_cpu_ns()));
    PARETO_ASSIGN(point.receive_cpu, control::duration_from(told.receive_cpu_ns()));
  }
  return result;
}

Expected<LinkSpeed> from_wire(const v1::MeasureRateReply& reply) {
  LinkSpeed speed{reply.bytes_per_second(), {}};
  if (!(speed.bytes_per_second >= 0 && std::isfinite(speed.bytes_per_second))) {
    return fail(ErrorCode::kCorrupt, "told a rate of {} bytes a second", speed.bytes_per_second);
  }
  PARETO_ASSIGN(speed.round_trip, control::duration_from(reply.round_trip_ns()));
  return speed;
}

}  // namespace pareto::cluster
