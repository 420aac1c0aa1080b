#include "daemon/control/control_service.h"

#include <grpcpp/grpcpp.h>

#include <cstdint>

#include "daemon/control/answer.h"
#include "daemon/control/attendance.h"
#include "daemon/control/device_calls.h"
#include "daemon/control/link_calls.h"
#include "daemon/control/network_calls.h"
#include "daemon/control/shard_calls.h"
#include "daemon/control/stage_calls.h"
#include "daemon/control/tensor_calls.h"

namespace pareto::daemon {

namespace v1 = control::v1;

namespace {

/// The part of a call's path before its name.
constexpr std::string_view kService = "/pareto.control.v1.Control/";

}  // namespace

grpc::Status ControlService::admit(std::string_view path, const grpc::AuthContext& shown) {
  if (parts_.credentials == nullptr) return grpc::Status::OK;
  return answer("Refused", failed_calls_, [&]() -> Expected<> {
    PARETO_ASSIGN(const Caller caller, caller_of(shown, *parts_.credentials));
    // Clock is judged when it is served, because the daemon itself calls it, as a device.
    if (!path.starts_with(kService) || path.ends_with("/Clock")) return {};
    return check_role(caller, path.substr(kService.size()));
  });
}

template <typename Body>
grpc::Status ControlService::serve(const char* call, const grpc::ServerContextBase& context,
                                   Body body) {
  silent_peers_.heard(context.peer());
  return answer(call, failed_calls_, [&]() -> Expected<> {
    PARETO_ASSIGN(const Caller caller, caller_of(context, parts_.credentials.get()));
    PARETO_TRY(check_role(caller, call));
    return body(caller);
  });
}

template <typename Body>
grpc::Status ControlService::serve_anybody(const char* call, const grpc::ServerContextBase& context,
                                           Body body) {
  return serve(call, context, [&](const Caller& caller) -> Expected<> {
    PARETO_TRY(sessions_.check_not_excluded(caller));
    return body();
  });
}

template <typename Request, typename Body>
grpc::Status ControlService::serve_owner(const char* call, const grpc::ServerContextBase& context,
                                         const Request& request, Body body) {
  return serve(call, context, [&](const Caller& caller) -> Expected<> {
    PARETO_TRY(sessions_.check(request.session(), caller));
    return body();
  });
}

grpc::Status ControlService::Describe(grpc::ServerContext* context,
                                      const v1::DescribeRequest* request,
                                      v1::DescribeReply* reply) {
  return serve("Describe", *context,
               [&](const Caller&) { return describe_device(parts_, *request, *reply); });
}

grpc::Status ControlService::Attend(
    grpc::ServerContext* context,
    grpc::ServerReaderWriter<v1::AttendReply, v1::AttendRequest>* stream) {
  return serve("Attend", *context, [&](const Caller& caller) -> Expected<> {
    PARETO_ASSIGN(const std::uint64_t session,
                  begin_session(sessions_, caller, parts_.credentials.get(),
                                [context] { context->TryCancel(); }));
    // Also if it throws: nothing else ends a session.
    const std::shared_ptr<void> at_the_end(nullptr, [&](void*) { sessions_.end(session); });
    return attend(sessions_, session, *stream);
  });
}

grpc::ServerUnaryReactor* ControlService::MissingTensors(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request,
                                                         grpc::ByteBuffer* reply) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(serve_anybody("MissingTensors", *context, [&] {
    return list_missing_tensors(parts_.store, *request, *reply);
  }));
  return reactor;
}

grpc::Status ControlService::PutTensors(grpc::ServerContext* context,
                                        grpc::ServerReader<v1::TensorChunk>* reader,
                                        v1::PutTensorsReply* reply) {
  return serve("PutTensors", *context, [&](const Caller& caller) {
    const auto admitted = [&]() -> Expected<> {
      PARETO_TRY(check_holds(caller, parts_.credentials.get()));
      return sessions_.check_not_excluded(caller);
    };
    return store_tensors(parts_.store, admitted, *reader, *reply);
  });
}

grpc::Status ControlService::LoadShard(grpc::ServerContext* context,
                                       const v1::LoadShardRequest* request,
                                       v1::LoadShardReply* reply) {
  return serve_owner("LoadShard", *context, *request,
                     [&] { return load_shard(parts_, sessions_, *context, *request, *reply); });
}

grpc::Status ControlService::UnloadShard(grpc::ServerContext* context,
                                         const v1::UnloadShardRequest* request,
                                         v1::UnloadShardReply* reply) {
  return serve_owner("UnloadShard", *context, *request,
                     [&] { return unload_shard(parts_, sessions_, *request, *reply); });
}

grpc::Status ControlService::TrainingState(grpc::ServerContext* context,
                                           const v1::TrainingStateRequest* request,
                                           grpc::ServerWriter<v1::StateChunk>* writer) {
  return serve_owner("TrainingState", *context, *request, [&]() -> Expected<> {
    PARETO_TRY(sessions_.check_shard(request->session(), request->shard()));
    return send_training_state(parts_, *request, *writer);
  });
}

grpc::Status ControlService::Profile(grpc::ServerContext* context,
                                     const v1::ProfileRequest* request, v1::ProfileReply* reply) {
  return serve_owner("Profile", *context, *request, [&]() -> Expected<> {
    PARETO_TRY(sessions_.check_shard(request->session(), request->shard()));
    return profile_shard(parts_, *request, *reply);
  });
}

grpc::Status ControlService::OpenStage(grpc::ServerContext* context,
                                       const v1::OpenStageRequest* request,
                                       v1::OpenStageReply* reply) {
  return serve_owner("OpenStage", *context, *request,
                     [&] { return open_stage(parts_, sessions_, *request, *reply); });
}

grpc::Status ControlService::StartStage(grpc::ServerContext* context,
                                        const v1::StartStageRequest* request,
                                        v1::StartStageReply* reply) {
  return serve_owner("StartStage", *context, *request,
                     [&] { return start_stage(parts_, sessions_, *request, *reply); });
}

grpc::Status ControlService::ChangeShard(grpc::ServerContext* context,
                                         const v1::ChangeShardRequest* request,
                                         v1::ChangeShardReply* reply) {
  return serve_owner("ChangeShard", *context, *request,
                     [&] { return change_shard(parts_, sessions_, *request, *reply); });
}

grpc::Status ControlService::CloseStage(grpc::ServerContext* context,
                                        const v1::CloseStageRequest* request,
                                        v1::CloseStageReply* reply) {
  return serve_owner("CloseStage", *context, *request,
                     [&] { return close_stage(parts_, sessions_, *request, *reply); });
}

grpc::Status ControlService::Status(grpc::ServerContext* context, const v1::StatusRequest* request,
                                    v1::StatusReply* reply) {
  return serve("Status", *context, [&](const Caller& caller) -> Expected<> {
    if (request->session() != 0) PARETO_TRY(sessions_.check(request->session(), caller));
    report_status(parts_, sessions_, *request, *reply);
    return {};
  });
}

grpc::Status ControlService::Observe(grpc::ServerContext* context,
                                     const v1::ObserveRequest* request, v1::ObserveReply* reply) {
  return serve("Observe", *context, [&](const Caller& caller) -> Expected<> {
    // A session that has ended holds nothing, and its coordinator still wants to see the device.
    const bool is_owner =
        request->session() != 0 && sessions_.check(request->session(), caller).has_value();
    observe_device(parts_, sessions_, caller, is_owner ? request->session() : 0, *reply);
    return {};
  });
}

grpc::Status ControlService::MeasureCodecs(grpc::ServerContext* context,
                                           const v1::MeasureCodecsRequest* request,
                                           v1::MeasureCodecsReply* reply) {
  if (request->shard().empty()) {
    return serve_anybody("MeasureCodecs", *context,
                         [&] { return measure_codecs(parts_, *request, *reply); });
  }
  return serve_owner("MeasureCodecs", *context, *request, [&]() -> Expected<> {
    PARETO_TRY(sessions_.check_shard(request->session(), request->shard()));
    return measure_codecs(parts_, *request, *reply);
  });
}

grpc::Status ControlService::MeasureRate(grpc::ServerContext* context,
                                         const v1::MeasureRateRequest* request,
                                         v1::MeasureRateReply* reply) {
  return serve_owner("MeasureRate", *context, *request, [&]() -> Expected<> {
    PARETO_TRY(sessions_.check_peer(request->session(), request->address()));
    return measure_rate(parts_, *request, *reply);
  });
}

grpc::Status ControlService::ProbeLink(grpc::ServerContext* context,
                                       const v1::ProbeLinkRequest* request,
                                       v1::ProbeLinkReply* reply) {
  return serve_owner("ProbeLink", *context, *request, [&]() -> Expected<> {
    PARETO_TRY(sessions_.check_peer(request->session(), request->address()));
    return probe_link(parts_, *request, *reply);
  });
}

grpc::Status ControlService::Emulate(grpc::ServerContext* context,
                                     const v1::EmulateRequest* request, v1::EmulateReply* reply) {
  return serve_anybody("Emulate", *context, [&] {
    return emulate_network(parts_.network, context->peer(), *request, *reply);
  });
}

grpc::Status ControlService::Clock(grpc::ServerContext* context, const v1::ClockRequest*,
                                   v1::ClockReply* reply) {
  return serve("Clock", *context, [&](const Caller&) -> Expected<> {
    read_clock(*reply);
    return {};
  });
}

}  // namespace pareto::daemon
