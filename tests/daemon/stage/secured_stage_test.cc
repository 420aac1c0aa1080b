// Who may speak with a stage over a network, if both sides have credentials.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/control/greeting.h"
#include "core/tls/credentials.h"
#include "daemon/stage/probe_links.h"
#include "tests/daemon/stage/stage_host_fixture.h"
#include "tests/support/tls.h"

namespace pareto::daemon {
namespace {

using control::Role;
using test::request_message;
using test::soon;
using testing::HasSubstr;
using Own = std::shared_ptr<const tls::Credentials>;

constexpr std::uint64_t kSecured = 77;

class SecuredStageTest : public StageHostTest {
 protected:
  std::filesystem::path folder_of(const std::string& name, tls::Role role) const {
    return folder_.path() / fmt::format("{}-{}", name, to_string(role));
  }
  std::shared_ptr<tls::Credentials> of(const std::string& name, tls::Role role) const {
    return tls::Credentials::open(authority_.credentials({name, role})).value();
  }
  std::unique_ptr<StageHost> host_of(const std::string& device, Own credentials,
                                     const std::string& transport = "tcp") const {
    StageHostOptions options;
    options.device = device;
    options.credentials = std::move(credentials);
    return StageHost::listen(std::move(options), {transport == "tcp" ? tcp_ : grpc_},
                             {{transport, "127.0.0.1:0"}})
        .value();
  }
  /// Takes a peer's certificate back; a host learns it as its daemon does.
  void take_back(const tls::Identity& lost, tls::Credentials& known_to, StageHost& host) {
    authority_.revoke(folder_of(lost.name, lost.role));
    ASSERT_TRUE(
        write_file_atomically(known_to.folder() / tls::kRevokedFile, authority_.revocation()));
    ASSERT_TRUE(known_to.refresh().value());
    host.end_refused();
  }
  static void expect_failed(const StageHost& host, const char* peer) {
    const auto report = host.status().at(0);
    EXPECT_EQ(report.state, control::StageState::kFailed);
    EXPECT_THAT(report.failure, testing::AllOf(HasSubstr(peer), HasSubstr("took it back")));
  }
  OpenStage stage(std::uint32_t number, const std::string& downstream) const {
    OpenStage opening{{kSecured, number, "", "tcp", "tcp", downstream}, shard_};
    opening.asked.upstream_peer = number == 0 ? "coordinator lab" : "device pi-1";
    if (downstream.empty()) {
      opening.asked.sink_peer = "coordinator lab";
    } else {
      opening.asked.downstream_peer = "device pi-2";
    }
    return opening;
  }
  Expected<std::unique_ptr<transport::Link>> say(const StageHost& host, const control::Hello& hello,
                                                 Own own) const {
    transport::LinkOptions options;
    options.credentials = std::move(own);
    return control::connect_to_stage(*tcp_, host.addresses().at(0).address, hello, soon(), options);
  }
  void expect_refused(const StageHost& host, const control::Hello& hello, const Own& own,
                      const char* why = "is not the one") const {
    const auto link = say(host, hello, own);
    ASSERT_FALSE(link) << own->identity().name;
    EXPECT_EQ(link.error().code, ErrorCode::kPermission) << link.error().message;
    EXPECT_THAT(link.error().message, HasSubstr(why));
    // The one who was named is nobody else's business.
    EXPECT_THAT(link.error().message, testing::Not(HasSubstr("lab")));
  }

  const std::shared_ptr<transport::Transport> tcp_ = transport::make_transport("tcp").value();
  const std::shared_ptr<transport::Transport> grpc_ = transport::make_transport("grpc").value();
  const TemporaryFolder folder_ = TemporaryFolder::create("pareto-stages").value();
  pareto::test::TestAuthority authority_{folder_.path(), "authority"};
  const Own lab_ = of("lab", tls::Role::kCoordinator);
  const Own thief_ = of("thief", tls::Role::kCoordinator);
  const Own eyes_ = of("eyes", tls::Role::kObserver);
  const std::shared_ptr<tls::Credentials> first_ = of("pi-1", tls::Role::kDevice);
  const std::shared_ptr<tls::Credentials> second_ = of("pi-2", tls::Role::kDevice);
};

TEST_F(SecuredStageTest, ThoseWhoWereNamedRunAPipeline) {
  const auto here = host_of("pi-1", first_);
  const auto there = host_of("pi-2", second_);
  const auto last = there->open(stage(1, "")).value();
  const auto front = here->open(stage(0, last.upstream));
  ASSERT_TRUE(front) << front.error().message;
  const auto source = say(*here, {kSecured, 0, Role::kUpstream}, lab_).value();
  const auto sink = say(*there, {kSecured, 1, Role::kSink}, lab_).value();
  EXPECT_EQ(to_string(source->identity()), "device pi-1");
  EXPECT_EQ(to_string(sink->identity()), "device pi-2");
  ASSERT_TRUE(there->start(kSecured, 1, soon()));
  ASSERT_TRUE(here->start(kSecured, 0, soon()));
  ASSERT_TRUE(source->send(request_message(kSecured, 5, 1), soon()));
  const auto result = sink->receive(soon());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->message.request, 5U);
  EXPECT_EQ(result->message.kind, wire::MessageKind::kValues);
}

TEST_F(SecuredStageTest, NobodyElseSaysHelloToAStage) {
  const auto there = host_of("pi-2", second_);
  ASSERT_TRUE(there->open(stage(1, "")));
  for (const Own& other : {thief_, lab_, Own(second_)}) {
    const control::Hello hello{kSecured, 1, Role::kUpstream};
    const auto link = say(*there, hello, other);
    ASSERT_FALSE(link) << other->identity().name;
    EXPECT_EQ(link.error().code, ErrorCode::kPermission) << link.error().message;
  }
  expect_refused(*there, {kSecured, 1, Role::kSink}, thief_);
  expect_refused(*there, {kSecured, 1, Role::kSink}, first_);
  // Who was named finds its place free.
  const auto upstream = say(*there, {kSecured, 1, Role::kUpstream}, first_);
  const auto sink = say(*there, {kSecured, 1, Role::kSink}, lab_);
  EXPECT_TRUE(upstream) << upstream.error().message;
  EXPECT_TRUE(sink) << sink.error().message;
}

TEST_F(SecuredStageTest, AnObserverOpensNoLink) {
  const auto there = host_of("pi-2", second_);
  auto opening = stage(1, "");
  opening.asked.upstream_peer = "";
  ASSERT_TRUE(there->open(opening));
  expect_refused(*there, {kSecured, 1, Role::kUpstream}, eyes_, "may not open links");
  expect_refused(*there, {0, 0, Role::kProbe}, eyes_, "may not open links");
  EXPECT_TRUE(say(*there, {0, 0, Role::kProbe}, first_));
  EXPECT_TRUE(say(*there, {0, 0, Role::kProbe}, thief_));
}

TEST_F(SecuredStageTest, TheNextStageIsOnTheDeviceThatWasNamed) {
  const auto here = host_of("pi-1", first_);
  const auto there = host_of("pi-2", second_);
  const auto last = there->open(stage(1, "")).value();
  auto opening = stage(0, last.upstream);
  opening.asked.downstream_peer = "device pi-3";
  const auto refused = here->open(opening);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
  EXPECT_THAT(refused.error().message, HasSubstr("device pi-2 answers, not device pi-3"));
  EXPECT_TRUE(here->status().empty());
  opening.asked.downstream_peer = "nobody";
  EXPECT_EQ(here->open(opening).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(SecuredStageTest, WithoutCredentialsNobodyIsTheOneWhoWasNamed) {
  const auto plain = host_of("pi-1", nullptr);
  const auto refused = plain->open(stage(0, "127.0.0.1:1"));
  EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
  EXPECT_THAT(refused.error().message, HasSubstr("pi-1 has no credentials"));
  ASSERT_TRUE(plain->open(stage(0, "")));
  const auto link = say(*plain, {kSecured, 0, Role::kUpstream}, nullptr);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().code, ErrorCode::kPermission);
  EXPECT_THAT(link.error().message, HasSubstr("(not authenticated) is not the one"));
}

TEST_F(SecuredStageTest, AStageFailsWhenThePeerBeforeItIsTakenBack) {
  for (const auto& transport : {tcp_, grpc_}) {
    const std::string name(transport->name());
    const auto device = of("pi-2", tls::Role::kDevice);
    const auto peer = of("pi-1", tls::Role::kDevice);
    const auto there = host_of("pi-2", device, name);
    auto opening = stage(1, "");
    opening.asked.transport = opening.asked.downstream_transport = name;
    const auto address = there->open(opening).value().upstream;
    const auto connect = [&](Role role, Own own) {
      transport::LinkOptions options;
      options.credentials = std::move(own);
      return control::connect_to_stage(*transport, address, {kSecured, 1, role}, soon(), options)
          .value();
    };
    const auto source = connect(Role::kUpstream, peer);
    const auto sink = connect(Role::kSink, lab_);
    ASSERT_TRUE(there->start(kSecured, 1, soon()));
    there->end_refused();
    EXPECT_EQ(there->status().at(0).state, control::StageState::kRunning) << name;
    take_back(peer->identity(), *device, *there);
    expect_failed(*there, "device pi-1");
    EXPECT_FALSE(source->receive(soon())) << "its link has ended";
    EXPECT_FALSE(sink->receive(soon()));
    std::filesystem::remove(device->folder() / tls::kRevokedFile);
  }
}

TEST_F(SecuredStageTest, AStageFailsWhenThePeerBehindItIsTakenBack) {
  const auto here = host_of("pi-1", first_);
  const auto there = host_of("pi-2", second_);
  const auto last = there->open(stage(1, "")).value();
  ASSERT_TRUE(here->open(stage(0, last.upstream)));
  take_back(second_->identity(), *first_, *here);
  expect_failed(*here, "device pi-2");
}

TEST_F(SecuredStageTest, ALinkThatWaitsForItsStageIsJudgedAgain) {
  const auto there = host_of("pi-2", second_);
  transport::LinkOptions options;
  options.credentials = first_;
  const auto link = tcp_->connect(there->addresses().at(0).address, soon(), options).value();
  // Its handshake goes on by the list of before.
  take_back(first_->identity(), *second_, *there);
  ASSERT_TRUE(there->open(stage(1, "")));
  EXPECT_FALSE(control::introduce(*link, {kSecured, 1, Role::kUpstream}, soon()));
  EXPECT_EQ(there->status().at(0).state, control::StageState::kOpening);
}

TEST_F(SecuredStageTest, AProbeEndsWhenItsPeerIsTakenBack) {
  const auto there = host_of("pi-2", second_);
  const auto link = say(*there, {0, 0, Role::kProbe}, thief_).value();
  take_back(thief_->identity(), *second_, *there);
  EXPECT_FALSE(link->receive(soon()));
}

TEST_F(SecuredStageTest, ALinkThatIsMeasuredEndsWhenItsPeerIsTakenBack) {
  const auto here = host_of("pi-1", first_);
  const auto there = host_of("pi-2", second_);
  const auto link = say(*there, {0, 0, Role::kProbe}, first_).value();
  ProbeLinks probes;
  const ProbeLinks::Use use(probes, *link);
  probes.close_refused(nullptr);
  probes.close_refused(first_.get());
  EXPECT_EQ(link->receive(std::chrono::steady_clock::now()).error().code, ErrorCode::kTimeout);
  take_back(second_->identity(), *first_, *here);
  probes.close_refused(first_.get());
  EXPECT_EQ(link->receive(soon()).error().code, ErrorCode::kClosed);
}

TEST_F(SecuredStageTest, TheKernelVouchesForAUserOfThisMachine) {
  OpenStage opening = request();
  opening.asked.upstream_peer = "coordinator lab";
  ASSERT_TRUE(host_->open(opening));
  EXPECT_TRUE(connect({kHostedPipeline, 0, Role::kUpstream}));
}

}  // namespace
}  // namespace pareto::daemon
