// Who may make which calls, over real mutual TLS.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/tls/credentials.h"
#include "core/transport/grpc/secure.h"
#include "daemon/control/attendance.h"
#include "daemon/control/silent_peers.h"
#include "tests/daemon/control/control_fixture.h"
#include "tests/support/tls.h"

namespace pareto::daemon {
namespace {

using grpc::StatusCode;
using tls::Identity;
using tls::Role;

class SecuredControlTest : public ControlTest {
 protected:
  SecuredControlTest() {
    ControlParts parts{*store_, shards_, *stages_, network_, "pi-1", 1, {}, {}, {}};
    parts.credentials = tls::Credentials::open(device_).value();
    credentials_ = parts.credentials;
    secured_ = ControlServer::start("127.0.0.1:0", std::move(parts),
                                    (folder_.path() / "user.socket").string())
                   .value();
  }
  /// Returns calls with those credentials; "" for none, which is without TLS.
  std::unique_ptr<v1::Control::Stub> stub(const std::filesystem::path& folder) const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto own = folder.empty() ? nullptr : tls::Credentials::open(folder).value();
    const auto channel = transport::grpc_channel_credentials(
        own, tls::dns_name(Identity{"pi-1", Role::kDevice}), arguments);
    return v1::Control::NewStub(grpc::CreateCustomChannel(secured_->address(), channel, arguments));
  }
  static grpc::Status clock(v1::Control::Stub& stub) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + test::kPatience);
    v1::ClockReply reply;
    return stub.Clock(&context, {}, &reply);
  }
  grpc::Status clock(const std::filesystem::path& folder) const { return clock(*stub(folder)); }
  std::filesystem::path issue(const std::string& name, Role role,
                              const pareto::test::Validity& validity = {}) const {
    return authority_.credentials({name, role}, validity);
  }

  TemporaryFolder keys_ = TemporaryFolder::create("keys").value();
  TemporaryFolder foreign_keys_ = TemporaryFolder::create("keys").value();
  pareto::test::TestAuthority authority_{keys_.path(), "authority"};
  pareto::test::TestAuthority foreign_{foreign_keys_.path(), "authority"};
  std::filesystem::path device_ = authority_.credentials({"pi-1", Role::kDevice});
  std::shared_ptr<tls::Credentials> credentials_;
  std::unique_ptr<ControlServer> secured_;
};

TEST(SilentPeersTest, ReportsAHostOnceAMinuteHoweverOftenItConnects) {
  SilentPeers peers;
  const TimePoint begin = std::chrono::steady_clock::now();
  peers.connected("10.0.0.1:1000", begin);
  peers.connected("10.0.0.1:1001", begin);
  peers.connected("[fe80::1]:1002", begin);
  peers.heard("ipv6:%5Bfe80::1%5D:1002");
  EXPECT_TRUE(peers.reports(begin + std::chrono::seconds(1)).empty()) << "they have time";
  const auto reports = peers.reports(begin + SilentPeers::kPatience);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].host, "10.0.0.1");
  EXPECT_EQ(reports[0].connections, 2);
  peers.connected("10.0.0.1:1003", begin + std::chrono::seconds(20));
  EXPECT_TRUE(peers.reports(begin + std::chrono::seconds(40)).empty());
  const auto later = peers.reports(begin + std::chrono::seconds(80));
  ASSERT_EQ(later.size(), 1U);
  EXPECT_EQ(later[0].connections, 1);
}

TEST_F(SecuredControlTest, LetsInHoldersOfCertificatesOfItsAuthority) {
  EXPECT_TRUE(clock(issue("laptop", Role::kCoordinator)).ok());
  EXPECT_TRUE(clock(issue("screen", Role::kObserver)).ok());
  EXPECT_EQ(clock(issue("pi-2", Role::kDevice)).error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(clock("").error_code(), StatusCode::UNAVAILABLE) << "without TLS";
  EXPECT_EQ(clock(foreign_.credentials({"laptop", Role::kCoordinator})).error_code(),
            StatusCode::UNAVAILABLE);
  EXPECT_EQ(
      clock(issue("old", Role::kCoordinator, {std::chrono::hours(-48), std::chrono::hours(-24)}))
          .error_code(),
      StatusCode::UNAVAILABLE);
  EXPECT_TRUE(secured_->check_answers(test::kPatience));
}

TEST_F(SecuredControlTest, UsersOfThisMachineComeInByTheSocket) {
  const auto users = v1::Control::NewStub(
      grpc::CreateChannel("unix:" + secured_->socket(), grpc::InsecureChannelCredentials()));
  EXPECT_TRUE(clock(*users).ok());
  const Coordinator coordinator(*users);
  EXPECT_NE(coordinator.session(), 0U);
}

TEST_F(SecuredControlTest, AnObserverSeesTheDeviceAndNoMore) {
  const auto observer = stub(issue("screen", Role::kObserver));
  grpc::ClientContext loading;
  v1::LoadShardReply loaded;
  const auto refused = observer->LoadShard(&loading, load_request(test::make_shard()), &loaded);
  EXPECT_EQ(refused.error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_THAT(refused.error_message(), testing::Not(testing::HasSubstr("pi-1")));
  EXPECT_TRUE(shards_.entries().empty());
  grpc::ClientContext attending;
  const auto stream = observer->Attend(&attending);
  v1::AttendReply reply;
  EXPECT_FALSE(stream->Read(&reply));
  EXPECT_EQ(stream->Finish().error_code(), StatusCode::PERMISSION_DENIED);
  // What others run is a number to it.
  v1::OpenStageRequest open;
  open.set_session(session());
  open.set_pipeline(5);
  open.set_shard(load());
  open.set_transport("tcp");
  open.set_downstream_transport("tcp");
  open.set_queue(1);
  v1::OpenStageReply opened;
  ASSERT_TRUE(call(&v1::Control::Stub::OpenStage, open, opened).ok());
  grpc::ClientContext observing;
  v1::ObserveReply seen;
  ASSERT_TRUE(observer->Observe(&observing, {}, &seen).ok());
  EXPECT_EQ(seen.stages_size(), 0);
  grpc::ClientContext asking;
  v1::StatusReply status;
  ASSERT_TRUE(observer->Status(&asking, {}, &status).ok());
  EXPECT_EQ(status.other_stages(), 1U);
  EXPECT_EQ(status.shards_size(), 0);
}

TEST_F(SecuredControlTest, RefusesBeforeARequestIsRead) {
  // A coordinator is told that it is too large.
  auto request = load_request(test::make_shard());
  request.set_archive(std::string(kMaxControlMessageBytes, 'x'));
  const auto load_as = [&](const std::string& name, Role role) {
    grpc::ClientContext context;
    v1::LoadShardReply reply;
    return stub(issue(name, role))->LoadShard(&context, request, &reply).error_code();
  };
  EXPECT_EQ(load_as("laptop", Role::kCoordinator), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(load_as("screen", Role::kObserver), StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(load_as("pi-2", Role::kDevice), StatusCode::PERMISSION_DENIED);
}

TEST_F(SecuredControlTest, NobodyElseChangesADeviceThatIsUsedExclusively) {
  const auto laptop = stub(issue("laptop", Role::kCoordinator));
  const auto desk = stub(issue("desk", Role::kCoordinator));
  grpc::ClientContext attending;
  const auto stream = laptop->Attend(&attending);
  v1::AttendRequest use;
  use.mutable_use()->set_exclusive(true);
  use.mutable_use()->set_program(7);
  ASSERT_TRUE(stream->Write(use));
  v1::AttendReply reply;
  ASSERT_TRUE(stream->Read(&reply));
  ASSERT_NE(reply.session(), 0U);
  const auto measure = [](v1::Control::Stub& stub) {
    grpc::ClientContext context;
    v1::MeasureCodecsReply costs;
    return stub.MeasureCodecs(&context, {}, &costs);
  };
  const auto refused = measure(*desk);
  EXPECT_EQ(refused.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_THAT(refused.error_message(), testing::HasSubstr("coordinator laptop"));
  EXPECT_TRUE(measure(*laptop).ok());
  attending.TryCancel();
}

TEST_F(SecuredControlTest, ASessionIsNobodyElsesThoughItsNumberIsKnown) {
  const auto laptop = stub(issue("laptop", Role::kCoordinator));
  const auto desk = stub(issue("desk", Role::kCoordinator));
  const Coordinator owner(*laptop);
  auto request = load_request(test::make_shard());
  request.set_session(owner.session());
  v1::LoadShardReply reply;
  grpc::ClientContext stealing;
  EXPECT_EQ(desk->LoadShard(&stealing, request, &reply).error_code(),
            StatusCode::PERMISSION_DENIED);
  grpc::ClientContext loading;
  EXPECT_TRUE(laptop->LoadShard(&loading, request, &reply).ok());
}

TEST_F(SecuredControlTest, ACertificateThatIsTakenBackEndsItsSession) {
  const std::filesystem::path own = issue("laptop", Role::kCoordinator);
  const auto laptop = stub(own);
  grpc::ClientContext attending;
  const auto stream = laptop->Attend(&attending);
  v1::AttendReply reply;
  ASSERT_TRUE(stream->Write({}));
  ASSERT_TRUE(stream->Read(&reply));
  authority_.revoke(own);
  std::ofstream(device_ / tls::kRevokedFile) << authority_.revocation();
  ASSERT_TRUE(credentials_->refresh().value());
  ASSERT_TRUE(secured_->renew_credentials());
  EXPECT_FALSE(stream->Read(&reply)) << "it ends";
  EXPECT_FALSE(stream->Finish().ok());
  EXPECT_EQ(clock(*laptop).error_code(), StatusCode::PERMISSION_DENIED)
      << "on a connection from before, too";
}

TEST_F(SecuredControlTest, ACertificateThatIsTakenBackStoresNoMoreTensors) {
  const std::filesystem::path own = issue("laptop", Role::kCoordinator);
  const auto laptop = stub(own);
  grpc::ClientContext storing;
  storing.set_deadline(std::chrono::system_clock::now() + test::kPatience);
  v1::PutTensorsReply reply;
  const auto writer = laptop->PutTensors(&storing, &reply);
  const auto put = [&](const std::string& data) {
    return writer->Write(first_chunk(data, data.size()));
  };
  const auto is_missing = [&](const std::string& data) {
    return !store_->missing(std::vector{sha256(data)}).empty();
  };
  ASSERT_TRUE(put("before"));
  for (const auto end = std::chrono::steady_clock::now() + test::kPatience;
       std::chrono::steady_clock::now() < end && is_missing("before");) {
    std::this_thread::yield();
  }
  ASSERT_FALSE(is_missing("before"));
  authority_.revoke(own);
  std::ofstream(device_ / tls::kRevokedFile) << authority_.revocation();
  ASSERT_TRUE(credentials_->refresh().value());
  static_cast<void>(put("afterwards"));
  writer->WritesDone();
  const grpc::Status ended = writer->Finish();
  EXPECT_EQ(ended.error_code(), StatusCode::PERMISSION_DENIED) << ended.error_message();
  EXPECT_TRUE(is_missing("afterwards"));
}

TEST_F(SecuredControlTest, ACertificateThatIsTakenBackWhileItsSessionBeginsBeginsNone) {
  const std::filesystem::path own = issue("laptop", Role::kCoordinator);
  const std::string shown = read_file(own / tls::kCertificateFile).value();
  const Caller caller{credentials_->judge(shown).value(), "10.0.0.1", shown};
  SessionTable table(shards_, *stages_);
  const auto begin = [&] { return begin_session(table, caller, credentials_.get(), [] {}); };
  const std::uint64_t before = begin().value();
  table.end(before);
  authority_.revoke(own);
  std::ofstream(device_ / tls::kRevokedFile) << authority_.revocation();
  ASSERT_TRUE(credentials_->refresh().value());
  // Open sessions would be dismissed here. This one was judged before, and begins after.
  const auto refused = begin();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("took it back"));
  int open = 0;
  table.cancel_if([&](const Caller&) { return ++open > 0; });
  EXPECT_EQ(open, 0);
}

TEST_F(SecuredControlTest, FilesThatDoNotFitTogetherAreShownToNobody) {
  const std::filesystem::path laptop = issue("laptop", Role::kCoordinator);
  const std::filesystem::path other = issue("pi-2", Role::kDevice);
  std::filesystem::copy_file(other / tls::kKeyFile, device_ / tls::kKeyFile,
                             std::filesystem::copy_options::overwrite_existing);
  ASSERT_FALSE(credentials_->refresh());
  // gRPC reads its files when a server begins, and then every few seconds.
  ControlParts parts{*store_, shards_, *stages_, network_, "pi-1", 1, {}, {}, {}};
  parts.credentials = credentials_;
  secured_ = ControlServer::start("127.0.0.1:0", std::move(parts)).value();
  EXPECT_TRUE(clock(laptop).ok()) << "those that were in use stay in use";
}

TEST_F(SecuredControlTest, ARenewedCertificateIsShownWithoutARestart) {
  const std::filesystem::path own = issue("laptop", Role::kCoordinator);
  ASSERT_TRUE(clock(own).ok());
  // The same name in the same folder, by another authority: who believes it has to come in.
  const std::filesystem::path renewed = foreign_.credentials({"pi-1", Role::kDevice});
  for (const auto name : {tls::kKeyFile, tls::kCertificateFile, tls::kAuthorityFile}) {
    std::filesystem::copy_file(renewed / name, device_ / name,
                               std::filesystem::copy_options::overwrite_existing);
  }
  ASSERT_TRUE(credentials_->refresh().value());
  ASSERT_TRUE(secured_->renew_credentials());
  const std::filesystem::path other = foreign_.credentials({"laptop", Role::kCoordinator});
  grpc::Status status = clock(other);
  EXPECT_FALSE(status.ok()) << "what is watched for had happened before";
  for (const auto end = std::chrono::steady_clock::now() + test::kPatience;
       std::chrono::steady_clock::now() < end && !status.ok();) {
    status = clock(other);
  }
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_FALSE(clock(own).ok());
}

}  // namespace
}  // namespace pareto::daemon
