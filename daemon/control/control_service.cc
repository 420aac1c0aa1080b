#include "daemon/control/control_service.h"

#include <grpcpp/grpcpp.h>

#include <cstdint>

#include "daemon/control/answer.h"
#include "daemon/control/device_calls.h"
#include "daemon/control/link_calls.h"
#include "daemon/control/network_calls.h"
#include "daemon/control/shard_calls.h"
#include "daemon/control/stage_calls.h"
#include "daemon/control/tensor_calls.h"

namespace pareto::daemon {

namespace v1 = control::v1;

grpc::Status ControlService::Describe(grpc::ServerContext*, const v1::DescribeRequest* request,
                                      v1::DescribeReply* reply) {
  return answer("Describe", [&] { return describe_device(parts_, *request, *reply); });
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

grpc::ServerUnaryReactor* ControlService::MissingTensors(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request,
                                                         grpc::ByteBuffer* reply) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(answer("MissingTensors",
                         [&] { return list_missing_tensors(parts_.store, *request, *reply); }));
  return reactor;
}

grpc::Status ControlService::PutTensors(grpc::ServerContext*,
                                        grpc::ServerReader<v1::TensorChunk>* reader,
                                        v1::PutTensorsReply* reply) {
  return answer("PutTensors", [&] { return store_tensors(parts_.store, *reader, *reply); });
}

grpc::Status ControlService::LoadShard(grpc::ServerContext* context,
                                       const v1::LoadShardRequest* request,
                                       v1::LoadShardReply* reply) {
  return answer("LoadShard",
                [&] { return load_shard(parts_, sessions_, *context, *request, *reply); });
}

grpc::Status ControlService::UnloadShard(grpc::ServerContext*,
                                         const v1::UnloadShardRequest* request,
                                         v1::UnloadShardReply* reply) {
  return answer("UnloadShard", [&] { return unload_shard(parts_, sessions_, *request, *reply); });
}

grpc::Status ControlService::TrainingState(grpc::ServerContext*,
                                           const v1::TrainingStateRequest* request,
                                           grpc::ServerWriter<v1::StateChunk>* writer) {
  return answer("TrainingState", [&] { return send_training_state(parts_, *request, *writer); });
}

grpc::Status ControlService::Profile(grpc::ServerContext*, const v1::ProfileRequest* request,
                                     v1::ProfileReply* reply) {
  return answer("Profile", [&] { return profile_shard(parts_, *request, *reply); });
}

grpc::Status ControlService::OpenStage(grpc::ServerContext*, const v1::OpenStageRequest* request,
                                       v1::OpenStageReply* reply) {
  return answer("OpenStage", [&] { return open_stage(parts_, sessions_, *request, *reply); });
}

grpc::Status ControlService::StartStage(grpc::ServerContext*, const v1::StartStageRequest* request,
                                        v1::StartStageReply* reply) {
  return answer("StartStage", [&] { return start_stage(parts_, *request, *reply); });
}

grpc::Status ControlService::ChangeShard(grpc::ServerContext*,
                                         const v1::ChangeShardRequest* request,
                                         v1::ChangeShardReply* reply) {
  return answer("ChangeShard", [&] { return change_shard(parts_, *request, *reply); });
}

grpc::Status ControlService::CloseStage(grpc::ServerContext*, const v1::CloseStageRequest* request,
                                        v1::CloseStageReply* reply) {
  return answer("CloseStage", [&] { return close_stage(parts_, sessions_, *request, *reply); });
}

grpc::Status ControlService::Status(grpc::ServerContext*, const v1::StatusRequest* request,
                                    v1::StatusReply* reply) {
  return answer("Status", [&] { return report_status(parts_, sessions_, *request, *reply); });
}

grpc::Status ControlService::Observe(grpc::ServerContext*, const v1::ObserveRequest* request,
                                     v1::ObserveReply* reply) {
  return answer("Observe", [&]() -> Expected<> {
    observe_device(parts_, sessions_, *request, *reply);
    return {};
  });
}

grpc::Status ControlService::MeasureCodecs(grpc::ServerContext*,
                                           const v1::MeasureCodecsRequest* request,
                                           v1::MeasureCodecsReply* reply) {
  return answer("MeasureCodecs", [&] { return measure_codecs(parts_, *request, *reply); });
}

grpc::Status ControlService::MeasureRate(grpc::ServerContext*,
                                         const v1::MeasureRateRequest* request,
                                         v1::MeasureRateReply* reply) {
  return answer("MeasureRate", [&] { return measure_rate(parts_, *request, *reply); });
}

grpc::Status ControlService::ProbeLink(grpc::ServerContext*, const v1::ProbeLinkRequest* request,
                                       v1::ProbeLinkReply* reply) {
  return answer("ProbeLink", [&] { return probe_link(parts_, *request, *reply); });
}

grpc::Status ControlService::Emulate(grpc::ServerContext* context,
                                     const v1::EmulateRequest* request, v1::EmulateReply* reply) {
  return answer("Emulate",
                [&] { return emulate_network(parts_.network, context->peer(), *request, *reply); });
}

grpc::Status ControlService::Clock(grpc::ServerContext*, const v1::ClockRequest*,
                                   v1::ClockReply* reply) {
  return answer("Clock", [&]() -> Expected<> {
    read_clock(*reply);
    return {};
  });
}

}  // namespace pareto::daemon
