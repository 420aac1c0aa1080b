#include "daemon/stage/hosted_stage.h"

#include <utility>

#include "core/plan/stage_settings.h"

namespace pareto::daemon {

control::StageReport report_of(const StageContext& context, const LoadedShard& shard,
                               control::StageState state, const std::string& failure) {
  const StageMeter& meter = *context.meter;
  const bool ended = state == control::StageState::kFailed || state == control::StageState::kClosed;
  return {context.pipeline, context.stage,
          shard.handle(),   state,
          failure,          meter.requests,
          meter.failed,     meter.bytes_received,
          meter.bytes_sent, ended ? 0 : meter.in_flight.load()};
}

WatchedStage watched_stage(const StageContext& context, const LoadedShard& loaded,
                           control::StageReport report) {
  const plan::Shard& shard = loaded.shard();
  const StageMeter& meter = *context.meter;
  control::StageActivity activity{std::move(report)};
  activity.model = shard.model;
  activity.begin = shard.begin;
  activity.end = shard.end;
  activity.engine = loaded.report().engine;
  activity.answered = meter.answered;
  activity.dropped = meter.dropped;
  activity.wait = meter.wait.read();
  activity.compute = meter.compute.read();
  activity.receiving = Nanoseconds(meter.receiving);
  activity.sending = Nanoseconds(meter.sending);
  activity.round_trip = Nanoseconds(meter.round_trip);
  activity.link_bytes_per_second = meter.link_bytes_per_second;
  activity.schedule = plan::schedule_title(loaded.report().schedule);
  activity.workers = meter.workers.read();
  // Before its first request there is no time; after another shard's there may be too many.
  activity.workers.resize(loaded.workers());
  return {meter.place, std::move(activity)};
}

}  // namespace pareto::daemon
