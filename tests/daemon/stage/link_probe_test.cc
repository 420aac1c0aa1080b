// The rate of a link: who answers, and what ends it.
#include "daemon/stage/link_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/daemon/support/pipeline.h"

namespace pareto::daemon {
namespace {

using test::connect_as;
using test::message_of;
using test::soon;
using testing::HasSubstr;
using wire::MessageKind;

class LinkProbe : public testing::Test {
 protected:
  void SetUp() override { listen("tcp", "127.0.0.1:0"); }
  void listen(const std::string& transport, const std::string& address) {
    transport_ = transport::make_transport(transport).value();
    for (auto& host : hosts_) host = test::host_on(transport_, address).value();
  }
  std::string address(int host) const { return hosts_[host]->addresses().at(0).address; }
  std::unique_ptr<transport::Link> probe() {
    return connect_as(*transport_, address(1), {0, 0, control::Role::kProbe}).value();
  }

  std::shared_ptr<transport::Transport> transport_;
  std::unique_ptr<StageHost> hosts_[2];
};

TEST_F(LinkProbe, MeasuresEveryTransportBetweenDaemons) {
  for (const auto& [transport, address] : std::vector<std::pair<std::string, std::string>>{
           {"tcp", "127.0.0.1:0"}, {"grpc", "127.0.0.1:0"}, {"shm", "auto"}}) {
    listen(transport, address);
    const auto speed = hosts_[0]->measure_link(transport, this->address(1), soon());
    ASSERT_TRUE(speed) << transport << ": " << speed.error().message;
    EXPECT_GT(speed->bytes_per_second, 0) << transport;
    EXPECT_GT(speed->round_trip.count(), 0) << transport;
    // No stage and no link is left of it.
    EXPECT_TRUE(hosts_[1]->status().empty());
  }
}

TEST_F(LinkProbe, NamesWhatItCannotMeasure) {
  const auto unknown = hosts_[0]->measure_link("pigeon", address(1), soon());
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  const std::string gone = address(1);
  hosts_[1].reset();
  const auto unreachable = hosts_[0]->measure_link("tcp", gone, soon());
  EXPECT_EQ(unreachable.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(unreachable.error().message, HasSubstr(gone));
}

TEST_F(LinkProbe, AnswersPingsWithoutTheirBodies) {
  const auto link = probe();
  wire::Message ping = message_of(MessageKind::kPing);
  ping.request = 5;
  ping.body = *Tensor::allocate(DType::kUInt8, {1000});
  ASSERT_TRUE(link->send(ping, soon()));
  const auto pong = link->receive(soon());
  ASSERT_TRUE(pong);
  EXPECT_EQ(pong->message.kind, MessageKind::kPong);
  EXPECT_EQ(pong->message.request, 5U);
  EXPECT_TRUE(tensors_of(pong->message.body).empty());
}

TEST_F(LinkProbe, HangsUpOnWhateverIsNoPing) {
  const auto link = probe();
  ASSERT_TRUE(link->send(test::request_message(0, 0, 1.0F), soon()));
  EXPECT_FALSE(link->receive(soon()));
}

TEST_F(LinkProbe, WhoProbesSendsNoMoreThanThatTakes) {
  const auto link = probe();
  wire::Message ping = message_of(MessageKind::kPing);
  ping.body = *Tensor::allocate(DType::kUInt8, {65 << 20});
  // The other side may hang up before all of it is out.
  static_cast<void>(link->send(ping, soon()));
  EXPECT_FALSE(link->receive(soon()));
}

TEST(RateBetween, NoiseMakesNoLinkFaster) {
  using std::chrono::milliseconds;
  // 5 ms for each half.
  EXPECT_DOUBLE_EQ(rate_between(1000, milliseconds(5), milliseconds(40)), 1e5);
  // What took 10 ms in all cannot have been slower than that.
  EXPECT_DOUBLE_EQ(rate_between(1000, milliseconds(20), milliseconds(10)), 1e5);
  for (const auto lost : {milliseconds(0), milliseconds(-3)}) {
    EXPECT_DOUBLE_EQ(rate_between(1000, lost, milliseconds(20)), 5e4);
  }
}

TEST_F(LinkProbe, EndsWithTheDaemon) {
  const auto link = probe();
  hosts_[1].reset();
  EXPECT_EQ(link->receive(soon()).error().code, ErrorCode::kClosed);
}

TEST_F(LinkProbe, EndsWithTheDaemonThatMeasures) {
  const auto tcp = transport::make_transport("tcp").value();
  const auto silent = tcp->listen("127.0.0.1:0").value();
  auto measured = std::async(std::launch::async, [&] {
    return hosts_[0]->measure_link("tcp", silent->address(),
                                   *deadline_after(std::chrono::hours(1)));
  });
  const auto link = silent->accept(soon()).value();
  ASSERT_TRUE(link->receive(soon()));  // its hello, which nobody answers
  hosts_[0]->drain(soon());
  const auto ended = measured.get();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::kClosed) << ended.error().message;
}

}  // namespace
}  // namespace pareto::daemon
