// A daemon whose certificate is taken back while a coordinator uses it.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/own_credentials.h"
#include "core/base/file.h"
#include "core/plan/protocol.h"
#include "core/tls/credentials.h"
#include "core/transport/grpc/secure.h"
#include "core/transport/socket.h"
#include "proto/control.grpc.pb.h"
#include "tests/support/tls.h"

namespace pareto::cluster {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using tls::Role;
namespace v1 = control::v1;

constexpr std::chrono::seconds kLongEnough{60};

/// Answers, and counts what it was sent.
class CountingControl final : public v1::Control::Service {
 public:
  grpc::Status Describe(grpc::ServerContext*, const v1::DescribeRequest*,
                        v1::DescribeReply* reply) override {
    reply->set_protocol(plan::kProtocolVersion);
    return grpc::Status::OK;
  }
  grpc::Status Attend(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<v1::AttendReply, v1::AttendRequest>* stream) override {
    v1::AttendReply reply;
    reply.set_session(77);
    v1::AttendRequest request;
    while (stream->Read(&request)) stream->Write(reply);
    return grpc::Status::OK;
  }
  grpc::Status MeasureCodecs(grpc::ServerContext*, const v1::MeasureCodecsRequest*,
                             v1::MeasureCodecsReply*) override {
    ++measured;
    return grpc::Status::OK;
  }
  grpc::Status UnloadShard(grpc::ServerContext*, const v1::UnloadShardRequest*,
                           v1::UnloadShardReply*) override {
    return grpc::Status::OK;
  }
  grpc::Status Status(grpc::ServerContext* context, const v1::StatusRequest*,
                      v1::StatusReply*) override {
    asked = true;
    asked.notify_all();
    while (!context->IsCancelled()) std::this_thread::sleep_for(1ms);
    return grpc::Status::OK;
  }

  std::atomic<int> measured{0};
  std::atomic<bool> asked{false};  ///< a status was asked for, which it never tells
};

class SecuredDaemonTest : public testing::Test {
 protected:
  SecuredDaemonTest() {
    listen("127.0.0.1:0");
    config_ = {"pi-1", address_};
    config_.credentials = own_;
    client_ = connect_daemon(config_, 10s).value();
  }
  void listen(const std::string& address) {
    grpc::ServerBuilder builder;
    int port = 0;
    const auto shown = tls::Credentials::open(device_).value();
    builder.AddListeningPort(address, transport::grpc_server_credentials(shown.get()), &port);
    builder.RegisterService(&control_);
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }
  /// Takes the device's certificate back, and lets the coordinator know.
  void take_back() {
    authority_.revoke(device_);
    ASSERT_TRUE(write_file_atomically(coordinator_ / tls::kRevokedFile, authority_.revocation()));
  }

  const TemporaryFolder folder_ = TemporaryFolder::create("secured-daemon").value();
  pareto::test::TestAuthority authority_{folder_.path(), "authority"};
  const std::filesystem::path device_ = authority_.credentials({"pi-1", Role::kDevice});
  const std::filesystem::path coordinator_ = authority_.credentials({"lab", Role::kCoordinator});
  const std::shared_ptr<tls::Credentials> own_ = tls::Credentials::open(coordinator_).value();
  CountingControl control_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  DeviceConfig config_;
  std::unique_ptr<DaemonClient> client_;
};

TEST_F(SecuredDaemonTest, IsWhomItsCertificateNames) {
  EXPECT_EQ(client_->info().identity, (tls::Identity{"pi-1", Role::kDevice}));
  EXPECT_TRUE(client_->measure_codecs("a"));
  config_.identity = "PI-1";
  EXPECT_TRUE(connect_daemon(config_, 10s)) << "host names have no case";
  config_.identity = "pi-2";
  const auto other = connect_daemon(config_, 10s);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::kPermission) << other.error().message;
  EXPECT_THAT(other.error().message, HasSubstr("pi-1 answers there, not pi-2"));
}

TEST_F(SecuredDaemonTest, IsAbsentIfItHangsUp) {
  const auto listening = transport::open_listener({"127.0.0.1", 0}).value();
  auto waker = transport::Waker::create().value();
  std::thread hanging_up([&] {
    while (transport::accept_connection(listening, waker, std::nullopt)) {
    }
  });
  config_.address = transport::local_address(listening);
  const auto absent = connect_daemon(config_, 10s);
  waker.wake();
  hanging_up.join();
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kUnavailable) << absent.error().message;
}

TEST_F(SecuredDaemonTest, IsSentNothingByAConnectionAfterItWasTakenBack) {
  ASSERT_TRUE(client_->measure_codecs("a"));
  server_->Shutdown();
  take_back();
  ASSERT_TRUE(own_->refresh().value());
  listen(address_);
  const auto refused = client_->measure_codecs("a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(control_.measured, 1) << "the call never came there";
  const auto again = connect_daemon(config_, 10s);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kPermission);
  EXPECT_THAT(again.error().message, HasSubstr("revoked"));
}

TEST_F(SecuredDaemonTest, IsRefusedOnAConnectionFromBefore) {
  ASSERT_TRUE(client_->measure_codecs("a"));
  take_back();
  ASSERT_TRUE(own_->refresh().value());
  for (int i = 0; i < 2; ++i) {
    const auto refused = client_->measure_codecs("a");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
    EXPECT_THAT(refused.error().message, HasSubstr("its authority took it back"));
  }
}

TEST_F(SecuredDaemonTest, IsLostThoughACallWaitsForIt) {
  ASSERT_TRUE(client_->unload_shard("a")) << "this begins a session";
  auto waiting =
      std::async(std::launch::async, [&] { return client_->status(std::chrono::minutes(5)); });
  control_.asked.wait(false);
  take_back();
  ASSERT_TRUE(own_->refresh().value());
  ASSERT_EQ(waiting.wait_for(kLongEnough), std::future_status::ready);
  const auto lost = waiting.get();
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(lost.error().message, HasSubstr("its authority took it back"));
}

TEST_F(SecuredDaemonTest, ChangedFilesAreReadWhileDevicesAreUsed) {
  std::vector<DeviceConfig> devices{config_, config_};
  CredentialsChoice choice;
  choice.folder = coordinator_;
  choice.refresh_every = 1ms;
  ASSERT_TRUE(give_credentials(choice, devices));
  const std::string chain = read_file(device_ / tls::kCertificateFile).value();
  EXPECT_TRUE(devices[0].credentials->judge(chain));
  take_back();
  const auto end = std::chrono::steady_clock::now() + kLongEnough;
  while (devices[1].credentials->judge(chain)) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << "nobody reads the list";
  }
}

}  // namespace
}  // namespace pareto::cluster
