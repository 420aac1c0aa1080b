#include "daemon/control/link_calls.h"

#include <algorithm>
#include <utility>

#include "core/wire/codec_cost.h"
#include "daemon/control/answer.h"

namespace pareto::daemon {

namespace v1 = control::v1;

namespace {

constexpr int kMostProbeSizes = 64;

/// Returns the values that codecs are measured on: what a shard sends on, or standard ones.
Expected<Value> values_of(const ControlParts& parts, const std::string& handle) {
  if (handle.empty()) return wire::standard_activations();
  PARETO_ASSIGN(const auto shard, parts.shards.find(handle));
  PARETO_ASSIGN(std::vector<Value> outputs, shard->example_outputs());
  return Value(Tuple{std::move(outputs)});
}

}  // namespace

Expected<> measure_codecs(const ControlParts& parts, const v1::MeasureCodecsRequest& request,
                          v1::MeasureCodecsReply& reply) {
  PARETO_ASSIGN(const Value values, values_of(parts, request.shard()));
  PARETO_ASSIGN(const std::vector<wire::CodecCost> costs, wire::codec_costs(values));
  for (const wire::CodecCost& cost : costs) {
    auto& wire = *reply.add_costs();
    wire.set_codec(cost.codec);
    wire.set_bytes(cost.bytes);
    wire.set_encode_ns(cost.encode.count());
    wire.set_decode_ns(cost.decode.count());
    wire.set_error(cost.error);
  }
  return {};
}

Expected<> measure_rate(const ControlParts& parts, const v1::MeasureRateRequest& request,
                        v1::MeasureRateReply& reply) {
  const std::chrono::milliseconds timeout(std::min(request.timeout_ms(), kMaxTimeoutMs));
  PARETO_ASSIGN(
      const LinkSpeed speed,
      parts.stages.measure_link(request.transport(), request.address(), *deadline_after(timeout)));
  reply.set_bytes_per_second(speed.bytes_per_second);
  reply.set_round_trip_ns(speed.round_trip.count());
  return {};
}

Expected<> probe_link(const ControlParts& parts, const v1::ProbeLinkRequest& request,
                      v1::ProbeLinkReply& reply) {
  if (request.sizes_size() > kMostProbeSizes) {
    return fail(ErrorCode::kInvalidArgument, "{} sizes to probe a link with: at most {}",
                request.sizes_size(), kMostProbeSizes);
  }
  const std::chrono::milliseconds timeout(std::min(request.timeout_ms(), kMaxTimeoutMs));
  transport::ProbeOptions options;
  options.sizes.assign(request.sizes().begin(), request.sizes().end());
  options.budget =
      std::clamp(Nanoseconds(request.budget_ns()), Nanoseconds(0), Nanoseconds(timeout));
  PARETO_ASSIGN(const transport::ProbeResult result,
                parts.stages.probe_link(request.transport(), request.address(), options,
                                        *deadline_after(timeout)));
  reply.set_round_trip_ns(result.round_trip.count());
  for (const transport::ProbePoint& point : result.points) {
    auto& wire = *reply.add_points();
    wire.set_bytes(point.bytes);
    wire.set_crossing_ns(point.crossing.count());
    wire.set_interval_ns(point.interval.count());
    wire.set_send_cpu_ns(point.send_cpu.count());
    wire.set_receive_cpu_ns(point.receive_cpu.count());
  }
  return {};
}

}  // namespace pareto::daemon
