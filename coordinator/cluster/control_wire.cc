#include "coordinator/cluster/control_wire.h"

#include <algorithm>

#include "core/base/printable.h"
#include "core/control/digest_bytes.h"
#include "core/control/wire.h"

namespace pareto::cluster {

namespace v1 = control::v1;

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

v1::EmulateRequest to_wire(const EmulationWish& wish, std::chrono::milliseconds lease) {
  v1::EmulateRequest request;
  request.set_interface(wish.interface);
  request.set_condition(to_text(wish.condition));
  request.set_name(wish.name);
  request.set_lease_ms(static_cast<std::uint32_t>(lease.count()));
  request.set_control_interface_too(wish.control_interface_too);
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
  info.cores = static_cast<int>(reply.cores());
  info.memory_bytes = reply.memory_bytes();
  info.memory_limit_bytes = reply.memory_limit_bytes();
  info.torch_version = printable(reply.torch_version());
  info.fast_bf16 = reply.fast_bf16();
  info.trains = reply.trains();
  info.cuda_devices = static_cast<int>(reply.cuda_devices());
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
  info.cpu_quota = std::clamp(reply.cpu_quota(), 0.0, 1e6);
  info.imitated = reply.imitated();
  info.turns = printable(reply.turns());
  info.limit_cores = static_cast<int>(std::min<std::uint32_t>(reply.limit_cores(), 1 << 16));
  // A limit below what daemons take would stretch predictions beyond all measure.
  if (const double busy = reply.limit_busy(); busy >= 0.01 && busy < 1) info.limit_busy = busy;
  info.insecure = reply.insecure();
  if (const std::int64_t expires = reply.certificate_expires(); expires > 0) {
    info.certificate_expires = std::chrono::sys_seconds(std::chrono::seconds(expires));
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
  for (const auto& shard : reply.shards()) status.shards.push_back(shard.shard());
  status.other_shards = reply.other_shards();
  status.other_stages = reply.other_stages();
  status.resident_bytes = reply.resident_bytes();
  status.peak_resident_bytes = reply.peak_resident_bytes();
  status.store_bytes = reply.store_bytes();
  status.store_tensors = reply.store_tensors();
  return status;
}

std::vector<wire::CodecCost> from_wire(const v1::MeasureCodecsReply& reply) {
  std::vector<wire::CodecCost> costs;
  for (const auto& cost : reply.costs()) {
    costs.push_back({cost.codec(), cost.bytes(), Nanoseconds(cost.encode_ns()),
                     Nanoseconds(cost.decode_ns()), cost.error()});
  }
  return costs;
}

ShardTimes from_wire(const v1::ProfileReply& reply) {
  ShardTimes times;
  for (const std::int64_t time : reply.whole_ns()) times.whole.emplace_back(time);
  for (const auto& one : reply.operators()) {
    times.operators[one.position()] = Nanoseconds(one.median_ns());
  }
  return times;
}

transport::ProbeResult from_wire(const v1::ProbeLinkReply& reply) {
  transport::ProbeResult result;
  result.round_trip = Nanoseconds(reply.round_trip_ns());
  for (const auto& point : reply.points()) {
    result.points.push_back({point.bytes(), Nanoseconds(point.crossing_ns()),
                             Nanoseconds(point.interval_ns()), Nanoseconds(point.send_cpu_ns()),
                             Nanoseconds(point.receive_cpu_ns())});
  }
  return result;
}

}  // namespace pareto::cluster
