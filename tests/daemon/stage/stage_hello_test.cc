// Who may connect to a stage, and what happens to all others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <future>
#include <system_error>
#include <thread>

#include "core/control/greeting.h"
#include "core/plan/protocol.h"
#include "core/transport/socket.h"
#include "daemon/stage/stage_host.h"
#include "tests/daemon/stage/stage_host_fixture.h"
#include "tests/daemon/support/pipeline.h"

namespace pareto::daemon {
namespace {

using test::connect_as;
using test::soon;
using testing::HasSubstr;
using wire::MessageKind;

/// An obstacle: while it lives this process can start no thread, because each would want a stack
/// larger than its address space.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    ::pthread_attr_init(&huge);
    ::pthread_attr_setstacksize(&huge, std::size_t{1} << 48);
    EXPECT_EQ(::pthread_setattr_default_np(&huge), 0);
    ::pthread_attr_destroy(&huge);
    EXPECT_THROW(std::jthread([] {}), std::system_error);
  }
  ~NoMoreThreads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t before_;
};

TEST_F(StageHostTest, AHelloMayComeBeforeTheStage) {
  auto early = std::async(std::launch::async, [&] {
    return connect({kHostedPipeline, 0, control::Role::kUpstream}).has_value();
  });
  ASSERT_TRUE(host_->open(request()));
  EXPECT_TRUE(early.get());
}

TEST_F(StageHostTest, AHelloToAStageThatNeverOpensIsToldSo) {
  host(std::chrono::milliseconds(50));
  const auto refused = connect({kHostedPipeline, 3, control::Role::kUpstream});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(refused.error().message, HasSubstr("stage 3"));
}

TEST_F(StageHostTest, ASilentPeerDelaysNobody) {
  ASSERT_TRUE(host_->open(request()));
  std::vector<std::unique_ptr<transport::Link>> silent;
  for (int i = 0; i < 8; ++i) silent.push_back(transport_->connect(address_, soon()).value());
  EXPECT_TRUE(connect({kHostedPipeline, 0, control::Role::kUpstream}));
}

TEST_F(StageHostTest, ASilentPeerIsHungUpOn) {
  host(std::chrono::milliseconds(50));
  const auto silent = transport_->connect(address_, soon()).value();
  const auto farewell = silent->receive(soon());
  ASSERT_TRUE(farewell) << farewell.error().message;
  EXPECT_EQ(farewell->message.kind, MessageKind::kError);
  EXPECT_EQ(silent->receive(soon()).error().code, ErrorCode::kClosed);
}

TEST_F(StageHostTest, OfTooManySilentPeersTheOldestIsHungUpOn) {
  std::vector<std::unique_ptr<transport::Link>> silent;
  for (std::size_t i = 0; i <= LinkAcceptor::kMaxPending; ++i) {
    silent.push_back(transport_->connect(address_, soon()).value());
  }
  EXPECT_EQ(silent.front()->receive(soon()).error().code, ErrorCode::kClosed);
  EXPECT_EQ(silent.back()->receive(deadline_after(std::chrono::milliseconds(1))).error().code,
            ErrorCode::kTimeout);
}

/// Opens a connection from 127.0.1.SITE that says nothing.
FileDescriptor silent_connection(std::uint8_t site, std::uint16_t port) {
  FileDescriptor connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(0x7F000100U + site);
  EXPECT_EQ(::bind(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
            0);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  EXPECT_EQ(
      ::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return connection;
}

TEST_F(StageHostTest, ManySitesThatSayNothingKeepNobodyOut) {
  const std::shared_ptr<transport::Transport> tcp = transport::make_transport("tcp").value();
  const auto host = test::host_on(tcp, "127.0.0.1:0").value();
  const auto where = transport::parse_host_port(host->addresses().at(0).address).value();
  ASSERT_TRUE(host->open({{kHostedPipeline, 0, "", "tcp", "tcp", ""}, shard_}));
  std::vector<FileDescriptor> silent;
  for (std::size_t i = 0; i < LinkAcceptor::kMaxPending; ++i) {
    silent.push_back(silent_connection(static_cast<std::uint8_t>(i + 1), where.port));
  }
  // 127.0.0.1 comes before all others in the order of letters.
  const auto link = tcp->connect(to_string(where), soon()).value();
  for (std::size_t i = 0; i < 4; ++i) {
    silent.push_back(silent_connection(static_cast<std::uint8_t>(i + 100), where.port));
  }
  EXPECT_TRUE(control::introduce(*link, {kHostedPipeline, 0, control::Role::kUpstream}, soon()));
}

TEST_F(StageHostTest, LinksThatWaitForTheirStagesAreBounded) {
  std::vector<std::unique_ptr<transport::Link>> waiting;
  // Each says hello and does not wait for the answer.
  for (std::size_t i = 0; i <= LinkAcceptor::kMaxWaiting; ++i) {
    waiting.push_back(transport_->connect(address_, soon()).value());
    ASSERT_TRUE(waiting.back()->send(
        control::hello_message({kHostedPipeline + 1 + i, 0, control::Role::kUpstream}), soon()));
  }
  // One of them is one too many, whichever is heard last: it is told so, or hung up on if it
  // was not heard when the next one came.
  std::size_t refused = 0;
  for (const auto end = soon(); refused == 0 && SteadyClock().now() < end;) {
    for (const auto& link : waiting) {
      const auto answer = link->receive(deadline_after(std::chrono::milliseconds(1)));
      const Error error = answer ? control::error_of(answer->message) : answer.error();
      refused += error.code == ErrorCode::kExhausted || error.code == ErrorCode::kClosed;
    }
  }
  EXPECT_EQ(refused, 1U);
  ASSERT_TRUE(host_->open(request()));
  host_.reset();
}

/// Opens a connection that says nothing; -1 if there are no descriptors.
FileDescriptor idle_connection(const std::string& address) {
  const auto where = transport::parse_host_port(address).value();
  return transport::open_connection(where, soon()).value_or(FileDescriptor());
}

TEST_F(StageHostTest, FiveThousandIdleConnectionsNeitherBlockNorCost) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // A thread for each costs sanitizers more than the others' patience.
  constexpr int kIdle = 500;
#else
  constexpr int kIdle = 5000;
#endif
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_cur / 2 < kIdle) GTEST_SKIP() << "this process may open too few descriptors";
  const std::shared_ptr<transport::Transport> tcp = transport::make_transport("tcp").value();
  const auto host = test::host_on(tcp, "127.0.0.1:0").value();
  const std::string address = host->addresses().at(0).address;
  ASSERT_TRUE(host->open({{kHostedPipeline, 0, "", "tcp", "tcp", ""}, shard_}));
  const std::uint64_t before = read_memory().resident_bytes;
  std::vector<FileDescriptor> idle;
  for (int i = 0; i < kIdle; ++i) {
    idle.push_back(idle_connection(address));
    ASSERT_TRUE(idle.back()) << i;
  }
  EXPECT_TRUE(connect_as(*tcp, address, {kHostedPipeline, 0, control::Role::kUpstream}));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LE(read_memory().resident_bytes, before + (std::uint64_t{32} << 20));
#else
  static_cast<void>(before);  // Sanitizers take memory of their own for each connection.
#endif
}

TEST_F(StageHostTest, EachLinkOnce) {
  ASSERT_TRUE(host_->open(request()));
  const auto upstream = connect({kHostedPipeline, 0, control::Role::kUpstream});
  ASSERT_TRUE(upstream);
  EXPECT_EQ(connect({kHostedPipeline, 0, control::Role::kUpstream}).error().code,
            ErrorCode::kInvalidArgument);
  const auto sink = connect({kHostedPipeline, 0, control::Role::kSink});
  ASSERT_TRUE(sink);
  EXPECT_EQ(connect({kHostedPipeline, 0, control::Role::kSink}).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_TRUE(host_->start(kHostedPipeline, 0, soon()));
  EXPECT_EQ(host_->start(kHostedPipeline, 0, soon()).error().code, ErrorCode::kInvalidArgument);
}

TEST_F(StageHostTest, AStageWithANextOneTakesNoSink) {
  ASSERT_TRUE(host_->open(request(kHostedPipeline, 1)));
  auto first = request(kHostedPipeline, 0);
  first.asked.downstream = address_;
  ASSERT_TRUE(host_->open(first));
  EXPECT_EQ(connect({kHostedPipeline, 0, control::Role::kSink}).error().code,
            ErrorCode::kInvalidArgument);
}

TEST_F(StageHostTest, TheNextStagesRefusalIsPassedOn) {
  host(std::chrono::milliseconds(50));
  auto first = request(kHostedPipeline, 0);
  first.asked.downstream = address_;
  const auto refused = host_->open(first);
  EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(refused.error().message, HasSubstr("connecting to the next stage"));
  EXPECT_TRUE(host_->status().empty());
}

TEST_F(StageHostTest, ALinkForWhichThereIsNoThreadIsRefused) {
  const std::shared_ptr<transport::Transport> tcp = transport::make_transport("tcp").value();
  const auto host = test::host_on(tcp, "127.0.0.1:0").value();
  const std::string address = host->addresses().at(0).address;
  {
    const NoMoreThreads none;
    const auto refused = connect_as(*tcp, address, {kHostedPipeline, 0, control::Role::kUpstream});
    EXPECT_FALSE(refused);
  }
  ASSERT_TRUE(host->open({{kHostedPipeline, 0, "", "tcp", "tcp", ""}, shard_}));
  EXPECT_TRUE(connect_as(*tcp, address, {kHostedPipeline, 0, control::Role::kUpstream}));
}

}  // namespace
}  // namespace pareto::daemon
