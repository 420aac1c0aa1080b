#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/daemon_client.h"
#include "core/plan/protocol.h"
#include "proto/control.grpc.pb.h"

namespace pareto::cluster {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace v1 = control::v1;

/// Answers as it is told, and remembers what it was sent.
class FakeControl final : public v1::Control::Service {
 public:
  grpc::Status Describe(grpc::ServerContext*, const v1::DescribeRequest* request,
                        v1::DescribeReply* reply) override {
    asked_protocol = request->protocol();
    if (only != 0 && request->protocol() != only) {
      return {grpc::StatusCode::INVALID_ARGUMENT,
              fmt::format("the coordinator speaks protocol {}, this daemon speaks {}",
                          request->protocol(), only)};
    }
    reply->set_protocol(only != 0 ? only : protocol);
    reply->set_version("9.9");
    reply->set_memory_bytes(1 << 20);
    reply->mutable_place()->set_boot_id("boot");
    reply->mutable_place()->set_network_namespace(4026531840);
    reply->mutable_place()->set_user(1000);
    reply->set_imitated(true);
    auto* data = reply->add_data();
    data->set_transport("tcp");
    data->set_address("0.0.0.0:7071");
    return grpc::Status::OK;
  }
  grpc::Status MissingTensors(grpc::ServerContext*, const v1::MissingTensorsRequest* request,
                              v1::MissingTensorsReply* reply) override {
    reply->add_digests(request->digests(0));
    if (corrupt) reply->add_digests("short");
    return grpc::Status::OK;
  }
  grpc::Status PutTensors(grpc::ServerContext*, grpc::ServerReader<v1::TensorChunk>* reader,
                          v1::PutTensorsReply*) override {
    v1::TensorChunk chunk;
    std::string digest;
    while (reader->Read(&chunk)) {
      if (!chunk.digest().empty()) digest = chunk.digest();
      if (!chunk.digest().empty()) sizes[digest] = chunk.size_bytes();
      largest_chunk = std::max(largest_chunk, chunk.data().size());
      received[digest] += chunk.data();
    }
    return answer;
  }
  grpc::Status Attend(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<v1::AttendReply, v1::AttendRequest>* stream) override {
    if (!attendable) return {grpc::StatusCode::CANCELLED, "ending"};
    v1::AttendReply reply;
    reply.set_session(77);
    v1::AttendRequest request;
    while (stream->Read(&request)) {
      peers.assign(request.peers().begin(), request.peers().end());
      ++heard;
      beats = request.beats();
      if (!silent || heard == 1) stream->Write(reply);
    }
    return grpc::Status::OK;
  }
  grpc::Status UnloadShard(grpc::ServerContext*, const v1::UnloadShardRequest* request,
                           v1::UnloadShardReply* reply) override {
    session = request->session();
    reply->set_shards_bytes(4321);
    return answer;
  }
  grpc::Status MeasureCodecs(grpc::ServerContext*, const v1::MeasureCodecsRequest* request,
                             v1::MeasureCodecsReply* reply) override {
    auto* cost = reply->add_costs();
    cost->set_codec("of " + request->shard());
    cost->set_bytes(11);
    cost->set_encode_ns(22);
    cost->set_decode_ns(33);
    cost->set_error(0.5);
    return answer;
  }
  grpc::Status MeasureRate(grpc::ServerContext*, const v1::MeasureRateRequest* request,
                           v1::MeasureRateReply* reply) override {
    measured = request->transport() + "=" + request->address();
    session = request->session();
    reply->set_bytes_per_second(1e6);
    return answer;
  }
  grpc::Status Clock(grpc::ServerContext*, const v1::ClockRequest*,
                     v1::ClockReply* reply) override {
    const auto now = [this] {
      return Nanoseconds(std::chrono::steady_clock::now().time_since_epoch() + ahead).count();
    };
    reply->set_received_ns(now());
    reply->set_answered_ns(now() - (corrupt ? 1'000'000'000 : 0));
    return grpc::Status::OK;
  }
  grpc::Status Status(grpc::ServerContext* context, const v1::StatusRequest*,
                      v1::StatusReply*) override {
    ++status_calls;
    // Answers nothing until the caller gave up.
    std::unique_lock lock(mutex);
    released.wait(lock, [&] { return let_go || context->IsCancelled(); });
    return grpc::Status::OK;
  }

  std::uint32_t protocol = plan::kProtocolVersion;
  std::uint32_t asked_protocol = 0;
  bool corrupt = false;
  Nanoseconds ahead{};
  grpc::Status answer = grpc::Status::OK;
  std::map<std::string, std::uint64_t> sizes;
  std::map<std::string, std::string> received;
  std::size_t largest_chunk = 0;
  std::string measured;
  std::uint64_t session = 0;
  std::vector<std::string> peers;
  bool attendable = true;
  std::uint32_t only = 0;  ///< the one protocol of a daemon of the last release
  std::atomic<bool> silent{false};
  std::atomic<int> heard{0};
  std::atomic<bool> beats{false};
  std::atomic<int> status_calls{0};
  std::mutex mutex;
  std::condition_variable released;
  bool let_go = false;
};

class GrpcDaemonClientTest : public testing::Test {
 protected:
  GrpcDaemonClientTest() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&control_);
    server_ = builder.BuildAndStart();
    config_ = {"pi-1", "127.0.0.1:" + std::to_string(port)};
  }
  ~GrpcDaemonClientTest() override {
    {
      const std::lock_guard lock(control_.mutex);
      control_.let_go = true;
      control_.released.notify_all();
    }
    server_->Shutdown();
  }
  Expected<std::unique_ptr<DaemonClient>> connect() {
    return connect_daemon(config_, std::chrono::seconds(10));
  }

  FakeControl control_;
  std::unique_ptr<grpc::Server> server_;
  DeviceConfig config_;
};

NamedTensor tensor_of(std::int64_t bytes, int fill) {
  Tensor tensor = Tensor::allocate(DType::kUInt8, {bytes}).value();
  std::ranges::fill(tensor.mutable_bytes(), static_cast<std::byte>(fill));
  return {sha256(tensor.bytes()), tensor};
}

TEST_F(GrpcDaemonClientTest, PassesOnWhatWasMeasured) {
  const auto client = connect().value();
  const auto costs = client->measure_codecs("shard-1").value();
  ASSERT_EQ(costs.size(), 1U);
  EXPECT_EQ(costs[0].codec, "of shard-1");
  EXPECT_EQ(costs[0].bytes, 11U);
  EXPECT_EQ(costs[0].encode, Nanoseconds(22));
  EXPECT_EQ(costs[0].decode, Nanoseconds(33));
  EXPECT_EQ(costs[0].error, 0.5);
  EXPECT_EQ(client->measure_link("tcp", "host:1").value().bytes_per_second, 1e6);
  EXPECT_EQ(control_.measured, "tcp=host:1");
  EXPECT_EQ(control_.session, 77U);
  control_.answer = {grpc::StatusCode::NOT_FOUND, "no such shard"};
  EXPECT_EQ(client->measure_codecs("x").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(client->measure_link("x", "y").error().code, ErrorCode::kNotFound);
}

TEST_F(GrpcDaemonClientTest, ExchangesVersionsAndLearnsAboutTheDevice) {
  const auto client = connect().value();
  EXPECT_EQ(control_.asked_protocol, plan::kProtocolVersion);
  EXPECT_EQ(client->info().memory_bytes, 1U << 20);
  EXPECT_EQ(client->info().data.at("tcp"), "127.0.0.1:7071");
  EXPECT_TRUE(transport::share_memory(client->info().place, {"boot", 4026531840, 1000}));
  EXPECT_TRUE(client->info().imitated);
}

TEST_F(GrpcDaemonClientTest, AnotherProtocolVersionIsRefusedNamingBoth) {
  control_.protocol = plan::kProtocolVersion + 41;
  for (const Error& error : {connect().error(), Cluster::connect({config_}).error()}) {
    EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.message, HasSubstr("pi-1"));
    EXPECT_THAT(error.message, HasSubstr(std::to_string(plan::kProtocolVersion + 41)));
    EXPECT_THAT(error.message, HasSubstr(fmt::format("speaks {}", plan::kProtocolVersion)));
  }
}

TEST_F(GrpcDaemonClientTest, SpeaksWithADaemonOfTheLastRelease) {
  control_.only = plan::kOldestProtocol;
  const auto client = connect().value();
  EXPECT_EQ(client->info().protocol, plan::kOldestProtocol);
  EXPECT_TRUE(client->unload_shard("a"));
  EXPECT_FALSE(control_.beats) << "it would not know them";
  control_.only = plan::kOldestProtocol - 1;
  EXPECT_THAT(connect().error().message,
              HasSubstr(fmt::format("speaks protocol {}", plan::kProtocolVersion)));
}

TEST_F(GrpcDaemonClientTest, ADaemonThatGivesNoSignOfLifeIsLost) {
  control_.silent = true;
  const auto client = connect().value();
  ASSERT_TRUE(client->unload_shard("a"));
  EXPECT_TRUE(control_.beats);
  // The call itself would wait for a minute.
  const auto lost = client->status(std::chrono::minutes(1));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(lost.error().message,
              testing::AllOf(HasSubstr("pi-1"), HasSubstr("no sign of life")));
  EXPECT_THAT(client->unload_shard("a").error().message, HasSubstr("no sign of life"));
  EXPECT_GT(control_.heard, 3) << "it was asked again and again";
  const int asked = control_.status_calls;
  EXPECT_THAT(client->status(std::chrono::seconds(1)).error().message,
              HasSubstr("no sign of life"));
  EXPECT_THAT(client->put_tensors({}).error().message, HasSubstr("no sign of life"));
  EXPECT_EQ(control_.status_calls, asked) << "its loss is known: it is not asked";
}

TEST_F(GrpcDaemonClientTest, StreamsTensorsInChunksAndCountsThem) {
  const auto client = connect().value();
  const NamedTensor large = tensor_of((5 << 20) / 2 + 1, 7);
  const NamedTensor empty = tensor_of(0, 0);
  const NamedTensor small = tensor_of(3, 9);
  ASSERT_TRUE(client->put_tensors({large, empty, small}));
  EXPECT_EQ(control_.largest_chunk, std::size_t{1} << 20);
  ASSERT_EQ(control_.received.size(), 3U);
  for (const NamedTensor& entry : {large, empty, small}) {
    const std::string key(reinterpret_cast<const char*>(entry.digest.bytes.data()), 32);
    const std::string bytes(reinterpret_cast<const char*>(entry.tensor.bytes().data()),
                            entry.tensor.size_bytes());
    EXPECT_EQ(control_.received[key], bytes);
    EXPECT_EQ(control_.sizes[key], entry.tensor.size_bytes());
  }
  EXPECT_EQ(client->weights_sent_bytes(), (5U << 20) / 2 + 1 + 3);
}

TEST_F(GrpcDaemonClientTest, EverythingItHoldsIsOfItsSession) {
  const auto client = connect().value();
  EXPECT_EQ(client->unload_shard("a"), 4321U);
  EXPECT_EQ(control_.session, 77U);
}

TEST_F(GrpcDaemonClientTest, NamesTheDevicesThatLinksMayBeOpenedTo) {
  const auto client = connect().value();
  client->name_peers({"host:1"});
  ASSERT_TRUE(client->measure_link("tcp", "host:1"));
  EXPECT_THAT(control_.peers, testing::ElementsAre("host:1"));
  client->name_peers({"host:1", "host:2"});
  ASSERT_TRUE(client->measure_link("tcp", "host:2"));
  EXPECT_THAT(control_.peers, testing::ElementsAre("host:1", "host:2"))
      << "known before the link is opened";
}

TEST_F(GrpcDaemonClientTest, ADaemonThatTakesNoCoordinatorIsUnavailable) {
  control_.attendable = false;
  const auto client = connect().value();
  for (int i = 0; i < 2; ++i) {
    const auto refused = client->unload_shard("a");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(refused.error().message, HasSubstr("pi-1"));
  }
}

TEST_F(GrpcDaemonClientTest, EveryStatusHasItsCode) {
  const auto client = connect().value();
  const std::vector<std::pair<grpc::StatusCode, ErrorCode>> codes{
      {grpc::StatusCode::INVALID_ARGUMENT, ErrorCode::kInvalidArgument},
      {grpc::StatusCode::NOT_FOUND, ErrorCode::kNotFound},
      {grpc::StatusCode::DATA_LOSS, ErrorCode::kCorrupt},
      {grpc::StatusCode::UNAVAILABLE, ErrorCode::kUnavailable},
      {grpc::StatusCode::CANCELLED, ErrorCode::kClosed},
      {grpc::StatusCode::DEADLINE_EXCEEDED, ErrorCode::kTimeout},
      {grpc::StatusCode::RESOURCE_EXHAUSTED, ErrorCode::kExhausted},
      {grpc::StatusCode::PERMISSION_DENIED, ErrorCode::kPermission},
      {grpc::StatusCode::INTERNAL, ErrorCode::kInternal},
  };
  for (const auto& [status, code] : codes) {
    control_.answer = grpc::Status(status, "the daemon's own words");
    for (const Error& error :
         {client->unload_shard("x").error(), client->put_tensors({tensor_of(4, 1)}).error()}) {
      EXPECT_EQ(error.code, code);
      EXPECT_THAT(error.message, testing::StartsWith("pi-1"));
      EXPECT_THAT(error.message, HasSubstr("the daemon's own words"));
    }
  }
}

TEST_F(GrpcDaemonClientTest, WordsOfGrpcAreNotPassedOn) {
  const auto client = connect().value();
  for (const auto& [status, sentence] : std::vector<std::pair<grpc::Status, std::string>>{
           {{grpc::StatusCode::CANCELLED, "CANCELLED"}, "the daemon is ending"},
           {{grpc::StatusCode::CANCELLED, "Cancelling all calls"}, "the daemon is ending"},
           {{grpc::StatusCode::UNAVAILABLE, "Socket closed"}, "its daemon closed the connection"},
           {{grpc::StatusCode::UNAVAILABLE, "recvmsg:Connection reset by peer"},
            "the connection to its daemon broke (Connection reset by peer)"}}) {
    control_.answer = status;
    const std::string message = client->unload_shard("x").error().message;
    EXPECT_THAT(message, HasSubstr(sentence));
    EXPECT_THAT(message, Not(HasSubstr(status.error_message())));
  }
}

TEST_F(GrpcDaemonClientTest, ADeviceThatIsNamedByItsAddressIsNamedOnce) {
  config_.name = config_.address;
  const auto client = connect().value();
  control_.answer = {grpc::StatusCode::NOT_FOUND, "no such shard"};
  EXPECT_EQ(client->unload_shard("x").error().message,
            config_.address + ": unloading shard: no such shard");
}

TEST_F(GrpcDaemonClientTest, AMalformedAnswerIsCorrupt) {
  const auto client = connect().value();
  const Digest digest = sha256("x");
  EXPECT_THAT(client->missing_tensors({digest}).value(), testing::ElementsAre(digest));
  control_.corrupt = true;
  EXPECT_EQ(client->missing_tensors({digest}).error().code, ErrorCode::kCorrupt);
}

TEST_F(GrpcDaemonClientTest, ADaemonThatLacksACallIsToBeReplaced) {
  const Error error = connect().value()->observe(std::chrono::seconds(10)).error();
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("install the same version on both"));
}

TEST_F(GrpcDaemonClientTest, ADevicesClockIsKnownWithinItsError) {
  const auto client = connect().value();
  for (const Nanoseconds ahead :
       {Nanoseconds(0), Nanoseconds(std::chrono::hours(7)), Nanoseconds(std::chrono::hours(-7))}) {
    control_.ahead = ahead;
    const auto clock = client->clock_offset(8);
    ASSERT_TRUE(clock) << clock.error().message;
    EXPECT_GT(clock->error, Nanoseconds(0));
    EXPECT_LE(clock->offset - clock->error, ahead);
    EXPECT_GE(clock->offset + clock->error, ahead);
  }
  control_.corrupt = true;
  const auto corrupt = client->clock_offset(1);
  ASSERT_FALSE(corrupt);
  EXPECT_EQ(corrupt.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(corrupt.error().message, HasSubstr("pi-1"));
  EXPECT_EQ(client->clock_offset(0).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(GrpcDaemonClientTest, ACallThatIsNotAnsweredEndsAtItsDeadline) {
  const auto client = connect().value();
  const auto status = client->status(std::chrono::milliseconds(50));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kTimeout);
}

TEST_F(GrpcDaemonClientTest, ADeviceThatIsNotThereIsNamed) {
  server_->Shutdown();
  const auto client = connect();
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(client.error().message, HasSubstr("pi-1"));
}

}  // namespace
}  // namespace pareto::cluster
