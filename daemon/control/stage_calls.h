// The calls of control.proto that make a pipeline: stages opened, started, changed, closed.
//
// Threads: any. Their errors are what the coordinator is told.
#pragma once

#include "core/base/error.h"
#include "daemon/control/control_server.h"
#include "daemon/control/session_table.h"
#include "proto/control.pb.h"

namespace pareto::daemon {

/// Answers OpenStage: opens a stage for a session. Fails: kNotFound (codec), and as SessionTable's
/// check_shard and check_peer, and StageHost::open do.
Expected<> open_stage(const ControlParts& parts, SessionTable& sessions,
                      const control::v1::OpenStageRequest& request,
                      control::v1::OpenStageReply& reply);

/// Answers StartStage. Fails: as SessionTable::check_stage and StageHost::start do.
Expected<> start_stage(const ControlParts& parts, const SessionTable& sessions,
                       const control::v1::StartStageRequest& request,
                       control::v1::StartStageReply& reply);

/// Answers ChangeShard. Fails: as SessionTable::check_stage and check_shard, and as
/// StageHost::change_shard do.
Expected<> change_shard(const ControlParts& parts, const SessionTable& sessions,
                        const control::v1::ChangeShardRequest& request,
                        control::v1::ChangeShardReply& reply);

/// Answers CloseStage. Fails: as SessionTable::check_stage and StageHost::close do.
Expected<> close_stage(const ControlParts& parts, SessionTable& sessions,
                       const control::v1::CloseStageRequest& request,
                       control::v1::CloseStageReply& reply);

}  // namespace pareto::daemon
