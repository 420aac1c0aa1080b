// The calls of control.proto about shards: loaded, unloaded, timed.
//
// Threads: any. Their errors are what the coordinator is told.
#pragma once

#include <grpcpp/grpcpp.h>

#include "core/base/error.h"
#include "daemon/control/control_server.h"
#include "daemon/control/session_table.h"
#include "proto/control.grpc.pb.h"

namespace pareto::daemon {

/// Answers LoadShard: loads a shard for a session, until the deadline of `context`. Fails:
/// kInvalidArgument or kCorrupt (manifest, settings); kClosed (the coordinator left meanwhile); and
/// as SessionTable::hold_shard, ShardCache::load and TensorStore::check_capacity do.
Expected<> load_shard(const ControlParts& parts, SessionTable& sessions,
                      const grpc::ServerContext& context,
                      const control::v1::LoadShardRequest& request,
                      control::v1::LoadShardReply& reply);

/// Answers UnloadShard: counts one user less. Fails: as SessionTable::release_shard does.
Expected<> unload_shard(const ControlParts& parts, SessionTable& sessions,
                        const control::v1::UnloadShardRequest& request,
                        control::v1::UnloadShardReply& reply);

/// Answers TrainingState: streams what a shard that trains has learnt so far. Fails: kNotFound,
/// kInvalidArgument (it is not trained), kClosed (the coordinator left), kExhausted.
Expected<> send_training_state(const ControlParts& parts,
                               const control::v1::TrainingStateRequest& request,
                               grpc::ServerWriter<control::v1::StateChunk>& writer);

/// Answers Profile: times a loaded shard and its parts. Fails: kNotFound, and as
/// LoadedShard::profile does.
Expected<> profile_shard(const ControlParts& parts, const control::v1::ProfileRequest& request,
                         control::v1::ProfileReply& reply);

}  // namespace pareto::daemon
