// The calls of proto/control.proto, as gRPC wants them: each is handed to the function that answers
// it (device_calls.h, tensor_calls.h, shard_calls.h, stage_calls.h, link_calls.h, network_calls.h).
//
// Private to daemon/control: its generated headers are heavy.
#pragma once

#include <string_view>
#include <utility>

#include "core/tls/credentials.h"
#include "daemon/control/control_server.h"
#include "daemon/control/failed_calls.h"
#include "daemon/control/lease_watch.h"
#include "daemon/control/session_table.h"
#include "daemon/control/silent_peers.h"
#include "proto/control.grpc.pb.h"

namespace pareto::daemon {

/// The generated service, but MissingTensors comes as it was sent: parsed, a request of two-byte
/// digests takes twenty times its size.
using RawMissingTensors =
    control::v1::Control::WithRawCallbackMethod_MissingTensors<control::v1::Control::Service>;

/// One method for each call, which is why there are more than twenty. No error and no exception
/// passes them but as a status. Each first checks who calls, whether that role may, and whose
/// session the request names.
///
/// Threads: any; gRPC calls it from many.
class ControlService final : public RawMissingTensors {
 public:
  explicit ControlService(ControlParts parts)
      : parts_(std::move(parts)), sessions_(parts_.shards, parts_.stages) {}

  /// Checks a call before its request is read: a parsed one takes many times its size. `path`:
  /// "/pareto.control.v1.Control/Clock". Calls of other services, such as health, only need a
  /// certificate that holds. Fails: PERMISSION_DENIED; the log has it.
  grpc::Status admit(std::string_view path, const grpc::AuthContext& shown);
  /// Ends every Attend call: nothing else would.
  void end_sessions() { sessions_.cancel_all(); }
  /// Returns the connections that have made no call yet.
  SilentPeers& silent_peers() { return silent_peers_; }
  /// Ends the sessions of those whose certificates do not hold any more.
  void dismiss_revoked() {
    sessions_.cancel_if(
        [this](const Caller& owner) { return !check_holds(owner, parts_.credentials.get()); });
  }

  grpc::Status Describe(grpc::ServerContext* context, const control::v1::DescribeRequest* request,
                        control::v1::DescribeReply* reply) override;
  grpc::Status Attend(grpc::ServerContext* context,
                      grpc::ServerReaderWriter<control::v1::AttendReply,
                                               control::v1::AttendRequest>* stream) override;
  using RawMissingTensors::MissingTensors;
  grpc::ServerUnaryReactor* MissingTensors(grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* reply) override;
  grpc::Status PutTensors(grpc::ServerContext* context,
                          grpc::ServerReader<control::v1::TensorChunk>* reader,
                          control::v1::PutTensorsReply* reply) override;
  grpc::Status LoadShard(grpc::ServerContext* context, const control::v1::LoadShardRequest* request,
                         control::v1::LoadShardReply* reply) override;
  grpc::Status UnloadShard(grpc::ServerContext* context,
                           const control::v1::UnloadShardRequest* request,
                           control::v1::UnloadShardReply* reply) override;
  grpc::Status OpenStage(grpc::ServerContext* context, const control::v1::OpenStageRequest* request,
                         control::v1::OpenStageReply* reply) override;
  grpc::Status StartStage(grpc::ServerContext* context,
                          const control::v1::StartStageRequest* request,
                          control::v1::StartStageReply* reply) override;
  grpc::Status ChangeShard(grpc::ServerContext* context,
                           const control::v1::ChangeShardRequest* request,
                           control::v1::ChangeShardReply* reply) override;
  grpc::Status TrainingState(grpc::ServerContext* context,
                             const control::v1::TrainingStateRequest* request,
                             grpc::ServerWriter<control::v1::StateChunk>* writer) override;
  grpc::Status CloseStage(grpc::ServerContext* context,
                          const control::v1::CloseStageRequest* request,
                          control::v1::CloseStageReply* reply) override;
  grpc::Status Status(grpc::ServerContext* context, const control::v1::StatusRequest* request,
                      control::v1::StatusReply* reply) override;
  grpc::Status Observe(grpc::ServerContext* context, const control::v1::ObserveRequest* request,
                       control::v1::ObserveReply* reply) override;
  grpc::Status Profile(grpc::ServerContext* context, const control::v1::ProfileRequest* request,
                       control::v1::ProfileReply* reply) override;
  grpc::Status MeasureCodecs(grpc::ServerContext* context,
                             const control::v1::MeasureCodecsRequest* request,
                             control::v1::MeasureCodecsReply* reply) override;
  grpc::Status MeasureRate(grpc::ServerContext* context,
                           const control::v1::MeasureRateRequest* request,
                           control::v1::MeasureRateReply* reply) override;
  grpc::Status ProbeLink(grpc::ServerContext* context, const control::v1::ProbeLinkRequest* request,
                         control::v1::ProbeLinkReply* reply) override;
  grpc::Status Emulate(grpc::ServerContext* context, const control::v1::EmulateRequest* request,
                       control::v1::EmulateReply* reply) override;
  grpc::Status Clock(grpc::ServerContext* context, const control::v1::ClockRequest* request,
                     control::v1::ClockReply* reply) override;

 private:
  /// Runs body(caller) if the caller's role may make that call.
  template <typename Body>
  grpc::Status serve(const char* call, const grpc::ServerContextBase& context, Body body);
  /// Runs body() for everybody, unless somebody else uses the device exclusively.
  template <typename Body>
  grpc::Status serve_anybody(const char* call, const grpc::ServerContextBase& context, Body body);
  /// Runs body() for the owner of the session that the request names.
  template <typename Request, typename Body>
  grpc::Status serve_owner(const char* call, const grpc::ServerContextBase& context,
                           const Request& request, Body body);

  const ControlParts parts_;
  SilentPeers silent_peers_;
  FailedCalls failed_calls_;
  SessionTable sessions_;
  LeaseWatch leases_{sessions_};
};

}  // namespace pareto::daemon
