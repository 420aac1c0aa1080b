#include "daemon/control/control_service.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/control/digest_bytes.h"
#include "core/control/wire.h"
#include "core/plan/protocol.h"
#include "daemon/control/answer.h"

namespace pareto::daemon {
namespace {

namespace v1 = control::v1;

/// Several times what the largest model has.
constexpr std::size_t kMaxDigests = 1 << 16;
/// A digest in a MissingTensorsRequest: the field's tag, its length, its bytes.
constexpr std::string_view kDigestRecord("\x0a\x20", 2);
constexpr std::size_t kDigestRecordBytes = kDigestRecord.size() + 32;

/// Reads the digests of a MissingTensorsRequest as it was sent. Fails: kInvalidArgument.
Expected<std::vector<Digest>> digests_from(std::string_view request) {
  std::vector<Digest> digests;
  digests.reserve(request.size() / kDigestRecordBytes);
  for (; !request.empty(); request.remove_prefix(kDigestRecordBytes)) {
    if (!request.starts_with(kDigestRecord) || request.size() < kDigestRecordBytes) {
      return fail(ErrorCode::kInvalidArgument, "not a list of digests of {} bytes",
                  kDigestRecordBytes - kDigestRecord.size());
    }
    PARETO_ASSIGN(const Digest digest,
                  control::digest_from(request.substr(kDigestRecord.size(), 32)));
    digests.push_back(digest);
  }
  return digests;
}

Expected<TensorFileHeader> header_from(const v1::TensorChunk& chunk) {
  const auto dtype = chunk.dtype() <= 255
                         ? dtype_from_number(static_cast<std::uint8_t>(chunk.dtype()))
                         : std::nullopt;
  if (!dtype) return fail(ErrorCode::kInvalidArgument, "unknown dtype {}", chunk.dtype());
  return TensorFileHeader{*dtype, Shape(chunk.shape().begin(), chunk.shape().end()),
                          chunk.size_bytes()};
}

/// A long trace.
constexpr std::size_t kMaxConditionBytes = 8 << 20;

/// Returns "10.0.0.1" of "ipv4:10.0.0.1:4711", "fe80::1" of "ipv6:%5Bfe80::1%5D:4711"; whatever
/// else comes back as it is.
std::string host_of_peer(std::string peer) {
  const std::size_t scheme = peer.find(':');
  const std::size_t port = peer.rfind(':');
  if (scheme == std::string::npos || port <= scheme) return peer;
  peer = peer.substr(scheme + 1, port - scheme - 1);
  for (const char* bracket : {"%5B", "%5D", "[", "]"}) {
    if (const std::size_t at = peer.find(bracket); at != std::string::npos) {
      peer.erase(at, std::string_view(bracket).size());
    }
  }
  return peer;
}

/// Returns " of plain fp32 8.12 ms, onednn fp32 3.2 ms, prepacked bf16 1.92 ms"; nothing where none
/// was timed.
std::string contest_of(const runtime::LoadReport& report) {
  std::vector<std::string> tried;
  for (const runtime::EngineTiming& timing : report.timings) {
    if (!timing.failure.empty()) continue;
    tried.push_back(fmt::format("{} {} {:.3g} ms", timing.engine,
                                runtime::to_string(timing.precision),
                                to_milliseconds(timing.best)));
  }
  return tried.empty() ? "" : " of " + join(tried);
}

/// Returns " (bf16 is off by 7.2 % …)", or nothing.
std::string reason_of(const runtime::LoadReport& report) {
  return report.precision_reason.empty() ? "" : " (" + report.precision_reason + ")";
}

/// Returns when the coordinator gives up; no value means not within an hour, so that the daemon's
/// own limits count.
Deadline deadline_of(const grpc::ServerContext& context) {
  constexpr std::chrono::hours kLong{1};
  const auto now = std::chrono::system_clock::now();
  if (context.deadline() > now + kLong) return std::nullopt;
  return deadline_after(context.deadline() - now);
}

/// Returns the bytes of its weights, equal ones once.
std::uint64_t stored_bytes(const plan::Shard& shard) {
  std::uint64_t bytes = 0;
  std::set<Digest> seen;
  for (const plan::WeightRef& weight : shard.weights) {
    if (seen.insert(weight.digest).second) bytes += weight.size_bytes();
  }
  return bytes;
}

}  // namespace

Expected<> ControlService::describe(const v1::DescribeRequest& request,
                                    v1::DescribeReply& reply) const {
  if (request.protocol() != plan::kProtocolVersion) {
    return fail(ErrorCode::kInvalidArgument,
                "the coordinator speaks protocol {}, this daemon {} speaks {}: install the same "
                "version on both",
                request.protocol(), PARETO_VERSION, plan::kProtocolVersion);
  }
  reply.set_protocol(plan::kProtocolVersion);
  reply.set_version(PARETO_VERSION);
  reply.set_name(parts_.name);
  reply.set_cpu(parts_.machine.cpu);
  reply.set_cores(parts_.machine.cores);
  reply.set_os(parts_.machine.os);
  reply.set_device(parts_.default_device);
  reply.set_threads(static_cast<std::uint32_t>(parts_.default_threads));
  reply.set_cpu_quota(parts_.machine.cpu_quota);
  reply.set_imitated(parts_.machine.imitated);
  reply.mutable_place()->set_boot_id(parts_.place.boot);
  reply.mutable_place()->set_network_namespace(parts_.place.network);
  reply.mutable_place()->set_user(parts_.place.user);
  reply.set_memory_bytes(parts_.memory().total_bytes);
  reply.set_memory_limit_bytes(parts_.shards.memory_limit_bytes());
  reply.set_torch_version(parts_.runtime.torch_version);
  reply.set_fast_bf16(parts_.runtime.fast_bf16);
  reply.set_cuda_devices(static_cast<std::uint32_t>(parts_.runtime.cuda_devices));
  for (const std::string& engine : parts_.engines) reply.add_engines(engine);
  for (const DataAddress& address : parts_.stages.addresses()) {
    auto& data = *reply.add_data();
    data.set_transport(address.transport);
    data.set_address(address.address);
  }
  const TensorStore::Status store = parts_.store.status();
  reply.set_max_frame_bytes(parts_.stages.max_frame_bytes());
  reply.set_store_bytes(store.bytes);
  reply.set_store_limit_bytes(store.limit_bytes);
  reply.set_store_free_bytes(store.free_bytes);
  return {};
}

grpc::Status ControlService::Describe(grpc::ServerContext*, const v1::DescribeRequest* request,
                                      v1::DescribeReply* reply) {
  return answer("Describe", [&] { return describe(*request, *reply); });
}

grpc::Status ControlService::Attend(
    grpc::ServerContext* context,
    grpc::ServerReaderWriter<v1::AttendReply, v1::AttendRequest>* stream) {
  return answer("Attend", [&]() -> Expected<> {
    PARETO_ASSIGN(const std::uint64_t session,
                  sessions_.begin([context] { context->TryCancel(); }));
    v1::AttendReply reply;
    reply.set_session(session);
    v1::AttendRequest nothing;
    if (stream->Write(reply)) {
      while (stream->Read(&nothing)) {
      }
    }
    sessions_.end(session);
    return {};
  });
}

Expected<> ControlService::missing(const grpc::ByteBuffer& request, grpc::ByteBuffer& reply) const {
  grpc::Slice bytes;
  if (request.Length() > kMaxDigests * kDigestRecordBytes) {
    return fail(ErrorCode::kExhausted, "asked for more than {} digests at once", kMaxDigests);
  }
  if (request.Length() > 0 && !request.DumpToSingleSlice(&bytes).ok()) {
    return fail(ErrorCode::kCorrupt, "the request cannot be read");
  }
  PARETO_ASSIGN(const std::vector<Digest> asked,
                digests_from({reinterpret_cast<const char*>(bytes.begin()), bytes.size()}));
  v1::MissingTensorsReply absent;
  for (const Digest& digest : parts_.store.missing(asked))
    absent.add_digests(control::digest_bytes(digest));
  const grpc::Slice answered(absent.SerializeAsString());
  reply = grpc::ByteBuffer(&answered, 1);
  return {};
}

grpc::ServerUnaryReactor* ControlService::MissingTensors(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request,
                                                         grpc::ByteBuffer* reply) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(answer("MissingTensors", [&] { return missing(*request, *reply); }));
  return reactor;
}

Expected<> ControlService::put(grpc::ServerReader<v1::TensorChunk>& reader,
                               v1::PutTensorsReply& reply) const {
  std::unique_ptr<TensorUpload> upload;
  v1::TensorChunk chunk;
  while (reader.Read(&chunk)) {
    if (chunk.data().size() > kMaxChunkBytes) {
      return fail(ErrorCode::kInvalidArgument, "a chunk of {} bytes, the limit is {}",
                  chunk.data().size(), kMaxChunkBytes);
    }
    if (!chunk.digest().empty()) {
      if (upload) {
        return fail(ErrorCode::kInvalidArgument, "a tensor begins before the last one is complete");
      }
      PARETO_ASSIGN(const Digest digest, control::digest_from(chunk.digest()));
      PARETO_ASSIGN(TensorFileHeader header,
                    with_context(header_from(chunk), "tensor {}", digest.hex()));
      PARETO_ASSIGN(upload, parts_.store.begin(digest, std::move(header)));
    } else if (!upload) {
      return fail(ErrorCode::kInvalidArgument, "a chunk that belongs to no tensor");
    }
    PARETO_TRY(upload->append(std::as_bytes(std::span(chunk.data()))));
    reply.set_bytes(reply.bytes() + chunk.data().size());
    if (!upload->complete()) continue;
    PARETO_TRY(upload->finish());
    upload.reset();
    reply.set_tensors(reply.tensors() + 1);
  }
  if (upload) return fail(ErrorCode::kInvalidArgument, "the last tensor is not complete");
  return {};
}

grpc::Status ControlService::PutTensors(grpc::ServerContext*,
                                        grpc::ServerReader<v1::TensorChunk>* reader,
                                        v1::PutTensorsReply* reply) {
  return answer("PutTensors", [&] { return put(*reader, *reply); });
}

Expected<runtime::RunnerOptions> ControlService::options_from(
    const v1::RunnerSettings& wire) const {
  PARETO_ASSIGN(const control::ShardSettings settings, control::from_wire(wire));
  runtime::RunnerOptions options;
  options.engine = settings.engine;
  PARETO_ASSIGN(options.precision, runtime::parse_precision(settings.precision));
  if (settings.max_error > 0) options.max_error = settings.max_error;
  options.threads = settings.threads > 0 ? settings.threads : parts_.default_threads;
  options.device = settings.device.empty() ? parts_.default_device : settings.device;
  options.batch = settings.batch;
  return options;
}

Expected<> ControlService::load(grpc::ServerContext& context, const v1::LoadShardRequest& request,
                                v1::LoadShardReply& reply) {
  PARETO_TRY(sessions_.check(request.session()));
  PARETO_ASSIGN(const plan::Shard shard,
                plan::shard_from_manifest(request.manifest(), request.archive()));
  PARETO_ASSIGN(const runtime::RunnerOptions options, options_from(request.settings()));
  auto tried = parts_.shards.load(shard, options, deadline_of(context));
  if (!tried && tried.error().code == ErrorCode::kNotFound) {
    // Where there is no room for all of its tensors the later ones made the earlier ones go, and
    // always will.
    PARETO_TRY(with_context(parts_.store.check_capacity(stored_bytes(shard)), "shard {} [{}, {})",
                            shard.model, shard.begin, shard.end));
  }
  PARETO_ASSIGN(const ShardCache::Loaded loaded, std::move(tried));
  const LoadedShard& held = *loaded.shard;
  // Nobody would ever unload what nobody knows of.
  const bool left = context.IsCancelled();
  if (left || !sessions_.hold_shard(request.session(), held.handle())) {
    PARETO_TRY(parts_.shards.unload(held.handle()));
    return fail(ErrorCode::kClosed, "the coordinator left while its shard was loaded");
  }
  reply.set_shard(held.handle());
  reply.set_engine(held.report().engine);
  reply.set_precision(std::string(runtime::to_string(held.report().precision)));
  reply.set_precision_reason(held.report().precision_reason);
  reply.set_memory_bytes(held.memory_bytes());
  reply.set_was_loaded(loaded.was_loaded);
  reply.set_shards_bytes(parts_.shards.memory_bytes());
  for (const runtime::EngineTiming& timing : held.report().timings) {
    auto& wire = *reply.add_timings();
    wire.set_engine(timing.engine);
    wire.set_best_ns(timing.best.count());
    wire.set_failure(timing.failure);
    wire.set_relative_error(timing.relative_error);
    wire.set_precision(std::string(runtime::to_string(timing.precision)));
  }
  log_about({{"PARETO_MODEL", shard.model}, {"PARETO_SHARD", held.handle()}}, LogLevel::kInfo,
            fmt::format("loaded {} [{}, {}) as {}: engine {} {}{}{}, {} of weights", shard.model,
                        shard.begin, shard.end, held.handle(), held.report().engine,
                        runtime::to_string(held.report().precision), contest_of(held.report()),
                        reason_of(held.report()), format_bytes(shard.weight_bytes())));
  return {};
}

grpc::Status ControlService::LoadShard(grpc::ServerContext* context,
                                       const v1::LoadShardRequest* request,
                                       v1::LoadShardReply* reply) {
  return answer("LoadShard", [&] { return load(*context, *request, *reply); });
}

grpc::Status ControlService::UnloadShard(grpc::ServerContext*,
                                         const v1::UnloadShardRequest* request,
                                         v1::UnloadShardReply* reply) {
  return answer("UnloadShard", [&]() -> Expected<> {
    PARETO_TRY(sessions_.release_shard(request->session(), request->shard()));
    PARETO_TRY(parts_.shards.unload(request->shard()));
    reply->set_shards_bytes(parts_.shards.memory_bytes());
    return {};
  });
}

Expected<> ControlService::open(const v1::OpenStageRequest& request, v1::OpenStageReply& reply) {
  PARETO_TRY(sessions_.check(request.session()));
  pareto::daemon::OpenStage stage;
  stage.asked = control::from_wire(request);
  if (!stage.asked.codec.empty()) {
    PARETO_ASSIGN(stage.codec, wire::find_codec(stage.asked.codec));
  }
  PARETO_ASSIGN(stage.shard, parts_.shards.find(stage.asked.shard));
  PARETO_ASSIGN(StageAddresses addresses, parts_.stages.open(std::move(stage)));
  if (auto held = sessions_.hold_stage(request.session(), request.pipeline(), request.stage());
      !held) {
    PARETO_TRY(parts_.stages.close(request.pipeline(), request.stage()));
    return held;
  }
  reply.set_address(std::move(addresses.upstream));
  reply.set_sink_address(std::move(addresses.sink));
  return {};
}

grpc::Status ControlService::OpenStage(grpc::ServerContext*, const v1::OpenStageRequest* request,
                                       v1::OpenStageReply* reply) {
  return answer("OpenStage", [&] { return open(*request, *reply); });
}

grpc::Status ControlService::StartStage(grpc::ServerContext*, const v1::StartStageRequest* request,
                                        v1::StartStageReply* reply) {
  return answer("StartStage", [&]() -> Expected<> {
    const std::chrono::milliseconds timeout(std::min(request->timeout_ms(), kMaxTimeoutMs));
    PARETO_ASSIGN(
        const Nanoseconds round_trip,
        parts_.stages.start(request->pipeline(), request->stage(), *deadline_after(timeout)));
    reply->set_downstream_rtt_ns(round_trip.count());
    return {};
  });
}

grpc::Status ControlService::ChangeShard(grpc::ServerContext*,
                                         const v1::ChangeShardRequest* request,
                                         v1::ChangeShardReply* reply) {
  return answer("ChangeShard", [&]() -> Expected<> {
    PARETO_ASSIGN(auto shard, parts_.shards.find(request->shard()));
    PARETO_ASSIGN(
        const control::StageReport before,
        parts_.stages.change_shard(request->pipeline(), request->stage(), std::move(shard)));
    *reply->mutable_before() = control::to_wire(before);
    return {};
  });
}

grpc::Status ControlService::CloseStage(grpc::ServerContext*, const v1::CloseStageRequest* request,
                                        v1::CloseStageReply* reply) {
  return answer("CloseStage", [&]() -> Expected<> {
    PARETO_ASSIGN(const control::StageReport status,
                  parts_.stages.close(request->pipeline(), request->stage()));
    sessions_.release_stage(request->pipeline(), request->stage());
    *reply->mutable_status() = control::to_wire(status);
    return {};
  });
}

grpc::Status ControlService::Emulate(grpc::ServerContext* context,
                                     const v1::EmulateRequest* request, v1::EmulateReply* reply) {
  return answer("Emulate", [&] { return emulate(*context, *request, *reply); });
}

Expected<> ControlService::emulate(const grpc::ServerContext& context,
                                   const v1::EmulateRequest& request,
                                   v1::EmulateReply& reply) const {
  if (request.end()) return parts_.network.end(request.lease());
  Lease lease;
  if (request.lease() != 0) {
    PARETO_ASSIGN(lease, parts_.network.renew(request.lease()));
  } else {
    PARETO_TRY(parts_.network.check_allowed());
    if (request.condition().size() > kMaxConditionBytes) {
      return fail(ErrorCode::kInvalidArgument, "a condition of {} bytes, not at most {}",
                  request.condition().size(), kMaxConditionBytes);
    }
    LeaseWish wish;
    wish.interface = request.interface();
    PARETO_ASSIGN(wish.condition, plan::parse_condition(request.condition(), "condition"));
    wish.name = request.name();
    wish.duration = std::chrono::milliseconds(request.lease_ms());
    // Who is not known to come another way may come this one; a file is no interface.
    if (!context.peer().starts_with("unix:")) {
      wish.control_interface =
          interface_towards(host_of_peer(context.peer())).value_or(wish.interface);
    }
    wish.control_interface_too = request.control_interface_too();
    PARETO_ASSIGN(lease, parts_.network.take(wish));
  }
  reply.set_lease(lease.number);
  reply.set_lease_ms(static_cast<std::uint32_t>(
      std::chrono::floor<std::chrono::milliseconds>(lease.duration).count()));
  return {};
}

}  // namespace pareto::daemon
