#include "daemon/control/stage_calls.h"

#include <utility>

#include "core/control/wire.h"
#include "daemon/control/answer.h"

namespace pareto::daemon {

namespace v1 = control::v1;

Expected<> open_stage(const ControlParts& parts, SessionTable& sessions,
                      const v1::OpenStageRequest& request, v1::OpenStageReply& reply) {
  PARETO_TRY(sessions.check_shard(request.session(), request.shard()));
  if (!request.downstream().empty()) {
    PARETO_TRY(sessions.check_peer(request.session(), request.downstream()));
  }
  OpenStage stage;
  stage.asked = control::from_wire(request);
  if (!stage.asked.codec.empty()) {
    PARETO_ASSIGN(stage.codec, wire::find_codec(stage.asked.codec));
  }
  PARETO_ASSIGN(stage.shard, parts.shards.find(stage.asked.shard));
  PARETO_ASSIGN(StageAddresses addresses, parts.stages.open(std::move(stage)));
  if (auto held = sessions.hold_stage(request.session(), request.pipeline(), request.stage());
      !held) {
    PARETO_TRY(parts.stages.close(request.pipeline(), request.stage()));
    return held;
  }
  reply.set_address(std::move(addresses.upstream));
  reply.set_sink_address(std::move(addresses.sink));
  return {};
}

Expected<> start_stage(const ControlParts& parts, const SessionTable& sessions,
                       const v1::StartStageRequest& request, v1::StartStageReply& reply) {
  PARETO_TRY(sessions.check_stage(request.session(), request.pipeline(), request.stage()));
  const std::chrono::milliseconds timeout(std::min(request.timeout_ms(), kMaxTimeoutMs));
  PARETO_ASSIGN(const Nanoseconds round_trip,
                parts.stages.start(request.pipeline(), request.stage(), *deadline_after(timeout)));
  reply.set_downstream_rtt_ns(round_trip.count());
  return {};
}

Expected<> change_shard(const ControlParts& parts, const SessionTable& sessions,
                        const v1::ChangeShardRequest& request, v1::ChangeShardReply& reply) {
  PARETO_TRY(sessions.check_stage(request.session(), request.pipeline(), request.stage()));
  PARETO_TRY(sessions.check_shard(request.session(), request.shard()));
  PARETO_ASSIGN(auto shard, parts.shards.find(request.shard()));
  PARETO_ASSIGN(const control::StageReport before,
                parts.stages.change_shard(request.pipeline(), request.stage(), std::move(shard)));
  *reply.mutable_before() = control::to_wire(before);
  return {};
}

Expected<> close_stage(const ControlParts& parts, SessionTable& sessions,
                       const v1::CloseStageRequest& request, v1::CloseStageReply& reply) {
  PARETO_TRY(sessions.check_stage(request.session(), request.pipeline(), request.stage()));
  const auto status = parts.stages.close(request.pipeline(), request.stage());
  // One that was forgotten meanwhile is gone too.
  sessions.release_stage(request.session(), request.pipeline(), request.stage());
  PARETO_TRY(status);
  *reply.mutable_status() = control::to_wire(*status);
  return {};
}

}  // namespace pareto::daemon
