// The control service over real gRPC, with shards that the test makes up.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/impl/codegen/rpc_method.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/daemon/control/control_fixture.h"

namespace pareto::daemon {
namespace {

using grpc::StatusCode;
using test::soon;
using testing::HasSubstr;

TEST_F(ControlTest, DescribesItself) {
  v1::DescribeRequest request;
  request.set_protocol(plan::kProtocolVersion);
  v1::DescribeReply reply;
  ASSERT_TRUE(call(&v1::Control::Stub::Describe, request, reply).ok());
  EXPECT_EQ(reply.protocol(), plan::kProtocolVersion);
  EXPECT_EQ(reply.version(), PARETO_VERSION);
  EXPECT_EQ(reply.name(), "pi-1");
  EXPECT_EQ(reply.cpu(), "a cpu");
  EXPECT_EQ(reply.cores(), 4U);
  EXPECT_EQ(reply.os(), "an os");
  EXPECT_EQ(reply.device(), "cuda:3");
  EXPECT_GT(reply.memory_bytes(), 0U);
  EXPECT_EQ(reply.memory_limit_bytes(), 1U << 20);
  EXPECT_EQ(reply.torch_version(), "1.13.1");
  EXPECT_TRUE(reply.fast_bf16());
  EXPECT_EQ(reply.engines_size(), 2);
  ASSERT_EQ(reply.data_size(), 1);
  EXPECT_EQ(reply.data(0).transport(), "tcp");
  EXPECT_EQ(reply.data(0).address(), stages_->addresses().at(0).address);
  EXPECT_EQ(reply.store_limit_bytes(), 1U << 20);
}

TEST_F(ControlTest, TellsTheClockThatTimelinesAreOn) {
  const auto now = [] {
    return Nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  const auto asked = now();
  v1::ClockReply reply;
  ASSERT_TRUE(call(&v1::Control::Stub::Clock, v1::ClockRequest(), reply).ok());
  EXPECT_GE(reply.received_ns(), asked);
  EXPECT_GE(reply.answered_ns(), reply.received_ns());
  EXPECT_LE(reply.answered_ns(), now());
}

TEST_F(ControlTest, AnotherProtocolIsRefusedNamingBoth) {
  v1::DescribeRequest request;
  request.set_protocol(42);
  v1::DescribeReply reply;
  const auto status = call(&v1::Control::Stub::Describe, request, reply);
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("protocol 42"));
  EXPECT_THAT(status.error_message(), HasSubstr(fmt::format("speaks {}", plan::kProtocolVersion)));
}

TEST_F(ControlTest, SpeaksTheNewestProtocolThatBothKnow) {
  const auto spoken = [&](std::uint32_t newest, std::uint32_t oldest) {
    v1::DescribeRequest request;
    request.set_protocol(newest);
    request.set_oldest(oldest);
    v1::DescribeReply reply;
    const auto status = call(&v1::Control::Stub::Describe, request, reply);
    return status.ok() ? reply.protocol() : 0;
  };
  EXPECT_EQ(spoken(plan::kOldestProtocol, 0), plan::kOldestProtocol) << "the last release";
  EXPECT_EQ(spoken(plan::kProtocolVersion + 1, plan::kProtocolVersion), plan::kProtocolVersion);
  EXPECT_EQ(spoken(plan::kProtocolVersion + 1, 0), 0U);
  EXPECT_EQ(spoken(plan::kProtocolVersion + 2, plan::kProtocolVersion + 1), 0U);
  EXPECT_EQ(spoken(plan::kOldestProtocol - 1, 1), 0U);
}

TEST_F(ControlTest, TensorsArriveInChunksAndAreThenNotMissing) {
  const std::string large(1500, 'a');
  v1::TensorChunk rest;
  rest.set_data(large.substr(1000));
  v1::PutTensorsReply reply;
  const auto status =
      put({first_chunk(large, 1000), rest, first_chunk("", 0), first_chunk("b", 1)}, reply);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(reply.tensors(), 3U);
  EXPECT_EQ(reply.bytes(), 1501U);
  v1::MissingTensorsRequest asked;
  for (const auto& text : {large, std::string(), std::string("b"), std::string("c")}) {
    asked.add_digests(digest_bytes(text));
  }
  v1::MissingTensorsReply missing;
  ASSERT_TRUE(call(&v1::Control::Stub::MissingTensors, asked, missing).ok());
  ASSERT_EQ(missing.digests_size(), 1);
  EXPECT_EQ(missing.digests(0), digest_bytes("c"));
  EXPECT_EQ(store_->get(sha256(large)).value().size_bytes(), 1500U);
}

TEST_F(ControlTest, AQuestionForDigestsIsBoundedBeforeItIsParsed) {
  v1::MissingTensorsRequest asked;
  v1::MissingTensorsReply missing;
  EXPECT_TRUE(call(&v1::Control::Stub::MissingTensors, asked, missing).ok());
  asked.add_digests("");
  EXPECT_EQ(call(&v1::Control::Stub::MissingTensors, asked, missing).error_code(),
            StatusCode::INVALID_ARGUMENT);
  asked.Clear();
  for (int i = 0; i <= 1 << 16; ++i) asked.add_digests(digest_bytes("x"));
  EXPECT_EQ(call(&v1::Control::Stub::MissingTensors, asked, missing).error_code(),
            StatusCode::RESOURCE_EXHAUSTED);
  // Parsed, these would be a million strings.
  asked.Clear();
  for (int i = 0; i < 1 << 20; ++i) asked.add_digests("");
  EXPECT_EQ(call(&v1::Control::Stub::MissingTensors, asked, missing).error_code(),
            StatusCode::INVALID_ARGUMENT);
  v1::LoadShardRequest large;
  large.set_archive(std::string(kMaxControlMessageBytes, 'x'));
  v1::LoadShardReply loaded;
  EXPECT_EQ(call(&v1::Control::Stub::LoadShard, large, loaded).error_code(),
            StatusCode::RESOURCE_EXHAUSTED);
}

TEST_F(ControlTest, BadTensorStreams) {
  v1::PutTensorsReply reply;
  auto wrong = first_chunk("abc", 3);
  wrong.set_digest(digest_bytes("abd"));
  EXPECT_EQ(put({wrong}, reply).error_code(), StatusCode::DATA_LOSS);
  wrong.set_digest("short");
  EXPECT_EQ(put({wrong}, reply).error_code(), StatusCode::DATA_LOSS);
  EXPECT_EQ(put({first_chunk("abc", 2)}, reply).error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(put({first_chunk("abc", 2), first_chunk("abc", 3)}, reply).error_code(),
            StatusCode::INVALID_ARGUMENT);
  v1::TensorChunk orphan;
  orphan.set_data("abc");
  EXPECT_EQ(put({orphan}, reply).error_code(), StatusCode::INVALID_ARGUMENT);
  wrong = first_chunk("abc", 3);
  wrong.set_dtype(77);
  EXPECT_EQ(put({wrong}, reply).error_code(), StatusCode::INVALID_ARGUMENT);
  wrong.set_dtype(6);
  EXPECT_EQ(put({wrong}, reply).error_code(), StatusCode::INVALID_ARGUMENT);
  const std::string huge(kMaxChunkBytes + 1, 'x');
  EXPECT_EQ(put({first_chunk(huge, huge.size())}, reply).error_code(),
            StatusCode::INVALID_ARGUMENT);
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(put({first_chunk(large, 1000)}, reply).error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(store_->status().tensors, 0U);
}

TEST_F(ControlTest, ReadsNothingThatIsCompressed) {
  // A megabyte of it would be a gigabyte.
  auto request = load_request(test::make_shard());
  request.set_archive(std::string(std::size_t{2} * kMaxControlMessageBytes, 'x'));
  grpc::ClientContext context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  v1::LoadShardReply reply;
  const auto refused = stub_->LoadShard(&context, request, &reply);
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(refused.error_code(), StatusCode::RESOURCE_EXHAUSTED)
      << "it was unpacked: " << refused.error_message();
}

TEST_F(ControlTest, LoadsAndUnloads) {
  v1::LoadShardReply reply;
  auto request = load_request(test::make_shard());
  request.mutable_settings()->set_engine("fast");
  ASSERT_TRUE(call(&v1::Control::Stub::LoadShard, request, reply).ok());
  EXPECT_EQ(reply.engine(), "fast");
  EXPECT_FALSE(reply.was_loaded());
  ASSERT_EQ(reply.timings_size(), 1);
  EXPECT_EQ(reply.timings(0).best_ns(), 1000);
  EXPECT_EQ(shards_.entries().at(0).shard->options().threads, 3);
  EXPECT_EQ(shards_.entries().at(0).shard->options().device, "cuda:3");
  v1::LoadShardReply again;
  ASSERT_TRUE(call(&v1::Control::Stub::LoadShard, request, again).ok());
  EXPECT_TRUE(again.was_loaded());
  EXPECT_EQ(again.shard(), reply.shard());
  v1::StatusReply status;
  ASSERT_TRUE(call(&v1::Control::Stub::Status, own_status(), status).ok());
  ASSERT_EQ(status.shards_size(), 1);
  EXPECT_EQ(status.shards(0).users(), 2U);
  EXPECT_EQ(status.shards(0).model(), "fake");
  EXPECT_GT(status.resident_bytes(), 0U);
  v1::UnloadShardRequest unload;
  unload.set_session(session());
  unload.set_shard(reply.shard());
  v1::UnloadShardReply unloaded;
  EXPECT_TRUE(call(&v1::Control::Stub::UnloadShard, unload, unloaded).ok());
  EXPECT_TRUE(call(&v1::Control::Stub::UnloadShard, unload, unloaded).ok());
  EXPECT_EQ(call(&v1::Control::Stub::UnloadShard, unload, unloaded).error_code(),
            StatusCode::NOT_FOUND);
}

TEST_F(ControlTest, LeasesItsNetwork) {
  v1::EmulateRequest request;
  request.set_interface("eth1");
  request.set_condition("forward: {delay: 20ms}\n");
  request.set_name("slow");
  request.set_lease_ms(5'000);
  v1::EmulateReply reply;
  const auto emulate = [&] {
    return call(&v1::Control::Stub::Emulate, request, reply).error_code();
  };
  ASSERT_EQ(emulate(), StatusCode::OK);
  EXPECT_EQ(reply.lease_ms(), 5'000U);
  EXPECT_EQ(requested_.interface, "eth1");
  EXPECT_EQ(requested_.name, "slow");
  EXPECT_EQ(requested_.condition.forward.delay, std::chrono::milliseconds(20));
  EXPECT_EQ(requested_.control_interface, "lo") << "that which this call came by";
  EXPECT_EQ(emulate(), StatusCode::UNAVAILABLE) << "one at a time";
  request.set_lease(reply.lease());
  EXPECT_EQ(emulate(), StatusCode::OK) << "renewed";
  request.set_end(true);
  EXPECT_EQ(emulate(), StatusCode::OK);
  request.set_end(false);
  EXPECT_EQ(emulate(), StatusCode::NOT_FOUND);

  request.Clear();
  request.set_interface("lo");
  EXPECT_EQ(emulate(), StatusCode::PERMISSION_DENIED);
  request.set_interface("eth1");
  for (const char* bad : {"delay: much", "{", "mahimahi: /etc/passwd", "nonsense: 1"}) {
    request.set_condition(bad);
    EXPECT_EQ(emulate(), StatusCode::INVALID_ARGUMENT) << bad;
  }
}

TEST_F(ControlTest, ShardsThatCannotBeLoaded) {
  v1::LoadShardReply reply;
  const auto code = [&](const v1::LoadShardRequest& request) {
    return call(&v1::Control::Stub::LoadShard, request, reply).error_code();
  };
  auto request = load_request(test::make_shard());
  request.set_manifest("{");
  EXPECT_EQ(code(request), StatusCode::DATA_LOSS);
  request = load_request(test::make_shard());
  request.mutable_settings()->set_precision("fp8");
  EXPECT_EQ(code(request), StatusCode::INVALID_ARGUMENT);
  request = load_request(test::make_shard());
  request.mutable_settings()->set_batch(0);
  EXPECT_EQ(code(request), StatusCode::INVALID_ARGUMENT);
  request.mutable_settings()->set_batch(1);
  request.mutable_settings()->set_threads(100'000);
  EXPECT_EQ(code(request), StatusCode::INVALID_ARGUMENT);
  const plan::WeightRef absent{"w", sha256("absent"), DType::kFloat32, {1}, true};
  EXPECT_EQ(code(load_request(test::make_shard(0, 2, {absent}))), StatusCode::NOT_FOUND);
  const plan::WeightRef heavy{"w", sha256("absent"), DType::kFloat32, {1 << 20}, true};
  const auto status =
      call(&v1::Control::Stub::LoadShard, load_request(test::make_shard(0, 2, {heavy})), reply);
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("--memory-limit"));
}

TEST_F(ControlTest, AShardLoadedForSomebodyWhoLeftIsUnloaded) {
  std::promise<void> loading;
  std::promise<void> go_on;
  runs_->on_load = [&] {
    loading.set_value();
    go_on.get_future().wait();
    return Expected<>();
  };
  grpc::ClientContext context;
  auto call_ended = std::async(std::launch::async, [&] {
    v1::LoadShardReply reply;
    return stub_->LoadShard(&context, load_request(test::make_shard()), &reply).error_code();
  });
  loading.get_future().wait();
  context.TryCancel();
  EXPECT_EQ(call_ended.get(), StatusCode::CANCELLED);
  // Answered on the same connection, so behind the cancellation.
  v1::StatusReply status;
  EXPECT_TRUE(call(&v1::Control::Stub::Status, own_status(), status).ok());
  go_on.set_value();
  // Stopping waits for the call's end.
  server_.reset();
  EXPECT_TRUE(shards_.entries().empty());
}

TEST_F(ControlTest, AnExceptionIsAnErrorOfItsCall) {
  runs_->on_load = []() -> Expected<> { throw std::runtime_error("surprise"); };
  v1::LoadShardReply reply;
  const auto status = call(&v1::Control::Stub::LoadShard, load_request(test::make_shard()), reply);
  EXPECT_EQ(status.error_code(), StatusCode::INTERNAL);
  EXPECT_THAT(status.error_message(), HasSubstr("surprise"));
}

TEST_F(ControlTest, RunsAStageFromOpenToClose) {
  v1::OpenStageRequest open;
  open.set_session(session());
  open.set_pipeline(~std::uint64_t{0});
  open.set_shard("nobody");
  open.set_transport("tcp");
  open.set_downstream_transport("tcp");
  open.set_queue(2);
  v1::OpenStageReply opened;
  EXPECT_EQ(call(&v1::Control::Stub::OpenStage, open, opened).error_code(), StatusCode::NOT_FOUND);
  open.set_shard(load());
  open.set_codec("int9");
  EXPECT_EQ(call(&v1::Control::Stub::OpenStage, open, opened).error_code(), StatusCode::NOT_FOUND);
  open.set_codec("int8");
  auto status = call(&v1::Control::Stub::OpenStage, open, opened);
  ASSERT_TRUE(status.ok()) << status.error_message();

  v1::StartStageRequest start;
  start.set_session(session());
  start.set_pipeline(open.pipeline());
  start.set_timeout_ms(20);
  v1::StartStageReply started;
  EXPECT_EQ(call(&v1::Control::Stub::StartStage, start, started).error_code(),
            StatusCode::DEADLINE_EXCEEDED);
  const auto source = test::connect_as(*transport_, opened.address(),
                                       {open.pipeline(), 0, control::Role::kUpstream});
  const auto sink =
      test::connect_as(*transport_, opened.address(), {open.pipeline(), 0, control::Role::kSink});
  ASSERT_TRUE(source && sink);
  start.set_timeout_ms(20'000);
  ASSERT_TRUE(call(&v1::Control::Stub::StartStage, start, started).ok());
  EXPECT_EQ(started.downstream_rtt_ns(), 0);
  ASSERT_TRUE((*source)->send(test::request_message(open.pipeline(), 0, 1.F), soon()));
  EXPECT_EQ(test::first_float((*sink)->receive(soon()).value().message.body), 3.F);

  v1::StatusReply all;
  ASSERT_TRUE(call(&v1::Control::Stub::Status, own_status(), all).ok());
  ASSERT_EQ(all.stages_size(), 1);
  EXPECT_EQ(all.stages(0).state(), "running");
  EXPECT_EQ(all.stages(0).pipeline(), open.pipeline());
  EXPECT_EQ(all.stages(0).requests(), 1U);

  v1::ChangeShardRequest change;
  change.set_session(session());
  change.set_pipeline(open.pipeline());
  change.set_shard("nobody");
  v1::ChangeShardReply changed;
  EXPECT_EQ(call(&v1::Control::Stub::ChangeShard, change, changed).error_code(),
            StatusCode::NOT_FOUND);
  change.set_shard(open.shard());
  status = call(&v1::Control::Stub::ChangeShard, change, changed);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(changed.before().requests(), 1U);

  v1::CloseStageRequest close;
  close.set_session(session());
  close.set_pipeline(open.pipeline());
  v1::CloseStageReply closed;
  ASSERT_TRUE(call(&v1::Control::Stub::CloseStage, close, closed).ok());
  EXPECT_EQ(closed.status().state(), "closed");
  EXPECT_EQ(call(&v1::Control::Stub::CloseStage, close, closed).error_code(),
            StatusCode::NOT_FOUND);
}

TEST_F(ControlTest, APortInUseIsNamed) {
  ControlParts parts{*store_, shards_, *stages_, network_, "pi-2", 1, {}, {}, {}};
  const auto second = ControlServer::start(server_->address(), std::move(parts));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kPermission);
  EXPECT_THAT(second.error().message, HasSubstr(server_->address()));
  EXPECT_THAT(second.error().message, HasSubstr("in use"));
}

/// grpc.health.v1.Health/Check without its generated code: an empty request, and a reply whose one
/// field is the status.
std::string health(const std::shared_ptr<grpc::Channel>& channel) {
  const grpc::internal::RpcMethod method("/grpc.health.v1.Health/Check",
                                         grpc::internal::RpcMethod::NORMAL_RPC);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + test::kPatience);
  grpc::ByteBuffer request;
  grpc::ByteBuffer reply;
  const grpc::Slice empty;
  request = grpc::ByteBuffer(&empty, 1);
  const grpc::Status status =
      grpc::internal::BlockingUnaryCall(channel.get(), method, &context, request, &reply);
  if (!status.ok()) return status.error_message();
  grpc::Slice bytes;
  if (!reply.DumpToSingleSlice(&bytes).ok()) return "unreadable";
  return {reinterpret_cast<const char*>(bytes.begin()), bytes.size()};
}

TEST_F(ControlTest, HealthIsServingUntilTheStopIsAnnounced) {
  EXPECT_EQ(health(channel_), "\x08\x01");
  server_->announce_stop();
  EXPECT_EQ(health(channel_), "\x08\x02");
}

}  // namespace
}  // namespace pareto::daemon
