// The calls of the control service that measure this device and its links.
#include <algorithm>
#include <utility>

#include "core/wire/codec_cost.h"
#include "daemon/control/answer.h"
#include "daemon/control/control_service.h"

namespace pareto::daemon {

namespace v1 = control::v1;

namespace {

constexpr int kMostProbeSizes = 64;

}  // namespace

grpc::Status ControlService::Profile(grpc::ServerContext*, const v1::ProfileRequest* request,
                                     v1::ProfileReply* reply) {
  return answer("Profile", [&]() -> Expected<> {
    PARETO_ASSIGN(const auto shard, parts_.shards.find(request->shard()));
    const auto count = [](std::uint32_t asked) {
      return static_cast<int>(std::min<std::uint32_t>(asked, 1 << 20));
    };
    const std::vector<std::int64_t> cuts(request->cuts().begin(), request->cuts().end());
    PARETO_ASSIGN(const LoadedShard::Profile profile,
                  shard->profile(request->batch(), count(request->repeats()),
                                 count(request->operator_repeats()), cuts));
    for (const runtime::SegmentTime& time : profile.parts.segments) {
      auto& wire = *reply->add_segments();
      wire.set_begin(time.begin);
      wire.set_end(time.end);
      wire.set_median_ns(time.median.count());
    }
    for (const runtime::OperatorTime& time : profile.parts.operators) {
      auto& wire = *reply->add_operators();
      wire.set_position(time.position);
      wire.set_kind(time.kind);
      wire.set_scope(time.scope);
      wire.set_median_ns(time.median.count());
    }
    for (const Nanoseconds time : profile.whole) reply->add_whole_ns(time.count());
    return {};
  });
}

Expected<Value> ControlService::values_of(const std::string& handle) const {
  if (handle.empty()) return wire::standard_activations();
  PARETO_ASSIGN(const auto shard, parts_.shards.find(handle));
  PARETO_ASSIGN(std::vector<Value> outputs, shard->example_outputs());
  return Value(Tuple{std::move(outputs)});
}

grpc::Status ControlService::MeasureCodecs(grpc::ServerContext*,
                                           const v1::MeasureCodecsRequest* request,
                                           v1::MeasureCodecsReply* reply) {
  return answer("MeasureCodecs", [&]() -> Expected<> {
    PARETO_ASSIGN(const Value values, values_of(request->shard()));
    PARETO_ASSIGN(const std::vector<wire::CodecCost> costs, wire::codec_costs(values));
    for (const wire::CodecCost& cost : costs) {
      auto& wire = *reply->add_costs();
      wire.set_codec(cost.codec);
      wire.set_bytes(cost.bytes);
      wire.set_encode_ns(cost.encode.count());
      wire.set_decode_ns(cost.decode.count());
      wire.set_error(cost.error);
    }
    return {};
  });
}

grpc::Status ControlService::MeasureRate(grpc::ServerContext*,
                                         const v1::MeasureRateRequest* request,
                                         v1::MeasureRateReply* reply) {
  return answer("MeasureRate", [&]() -> Expected<> {
    const std::chrono::milliseconds timeout(std::min(request->timeout_ms(), kMaxTimeoutMs));
    PARETO_ASSIGN(const LinkSpeed speed,
                  parts_.stages.measure_link(request->transport(), request->address(),
                                             *deadline_after(timeout)));
    reply->set_bytes_per_second(speed.bytes_per_second);
    reply->set_round_trip_ns(speed.round_trip.count());
    return {};
  });
}

grpc::Status ControlService::ProbeLink(grpc::ServerContext*, const v1::ProbeLinkRequest* request,
                                       v1::ProbeLinkReply* reply) {
  return answer("ProbeLink", [&]() -> Expected<> {
    if (request->sizes_size() > kMostProbeSizes) {
      return fail(ErrorCode::kInvalidArgument, "{} sizes to probe a link with: at most {}",
                  request->sizes_size(), kMostProbeSizes);
    }
    const std::chrono::milliseconds timeout(std::min(request->timeout_ms(), kMaxTimeoutMs));
    transport::ProbeOptions options;
    options.sizes.assign(request->sizes().begin(), request->sizes().end());
    options.budget =
        std::clamp(Nanoseconds(request->budget_ns()), Nanoseconds(0), Nanoseconds(timeout));
    PARETO_ASSIGN(const transport::ProbeResult result,
                  parts_.stages.probe_link(request->transport(), request->address(), options,
                                           *deadline_after(timeout)));
    reply->set_round_trip_ns(result.round_trip.count());
    for (const transport::ProbePoint& point : result.points) {
      auto& wire = *reply->add_points();
      wire.set_bytes(point.bytes);
      wire.set_crossing_ns(point.crossing.count());
      wire.set_interval_ns(point.interval.count());
      wire.set_send_cpu_ns(point.send_cpu.count());
      wire.set_receive_cpu_ns(point.receive_cpu.count());
    }
    return {};
  });
}

}  // namespace pareto::daemon
