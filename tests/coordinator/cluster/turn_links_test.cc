#include "coordinator/cluster/turn_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <string>
#include <thread>
#include <utility>

namespace pareto::cluster {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using wire::Message;
using wire::MessageKind;

/// Keeps what it is sent, and gives what it was told to.
class FakeLink final : public transport::Link {
 public:
  Expected<transport::Sent> send(const Message& message, Deadline /*deadline*/) override {
    if (closed_) return fail(ErrorCode::kClosed, "closed");
    sent.emplace_back(message.pipeline, message.request);
    ends += message.kind == MessageKind::kEnd ? 1 : 0;
    transport::Sent done;
    done.wire_bytes = 100;
    return done;
  }
  Expected<transport::Received> receive(Deadline /*deadline*/) override {
    if (coming.empty()) return fail(ErrorCode::kTimeout, "nothing comes");
    transport::Received received;
    received.message = std::move(coming.front());
    coming.pop_front();
    return received;
  }
  void close() override { closed_ = true; }
  std::string peer() const override { return "fake"; }
  transport::PeerIdentity identity() const override { return {"fake", authenticated}; }
  bool is_closed() const { return closed_; }

  bool authenticated = true;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sent;  ///< pipeline and request
  std::deque<Message> coming;
  int ends = 0;

 private:
  bool closed_ = false;
};

Message request(std::uint64_t number, MessageKind kind = MessageKind::kValues) {
  Message message;
  message.kind = kind;
  message.pipeline = 7;
  message.request = number;
  return message;
}

class Turns : public testing::Test {
 protected:
  void send(std::uint64_t number) { EXPECT_TRUE(links_.source().send(request(number))); }
  /// Receives a result and returns its number; -1: none.
  std::int64_t receive() {
    const auto received = links_.sink().receive(deadline_after(milliseconds(0)));
    return received ? static_cast<std::int64_t>(received->message.request) : -1;
  }

  std::array<FakeLink, 2> sources_;
  std::array<FakeLink, 2> sinks_;
  TurnLinks links_{{{10, &sources_[0], &sinks_[0]}, {11, &sources_[1], &sinks_[1]}}};
};

TEST_F(Turns, RequestsGoRoundAndResultsKeepTheirOrder) {
  for (std::uint64_t number = 0; number < 3; ++number) send(number);
  EXPECT_THAT(sources_[0].sent, ElementsAre(Pair(10, 0), Pair(10, 1))) << "without a gap";
  EXPECT_THAT(sources_[1].sent, ElementsAre(Pair(11, 0)));
  sinks_[1].coming = {request(0)};
  EXPECT_EQ(receive(), -1) << "the first is due before";
  sinks_[0].coming = {request(0), request(1)};
  EXPECT_EQ(receive(), 0);
  EXPECT_EQ(receive(), 1);
  EXPECT_EQ(receive(), 2);
  EXPECT_EQ(receive(), -1) << "nothing was asked for";
}

TEST_F(Turns, PartsOfAResultComeFromOneReplica) {
  send(0);
  send(1);
  sinks_[0].coming = {request(0, MessageKind::kPart), request(0)};
  sinks_[1].coming = {request(0)};
  EXPECT_EQ(receive(), 0);
  EXPECT_EQ(receive(), 0);
  EXPECT_EQ(receive(), 1);
}

TEST_F(Turns, AnotherLoadBeginsWithTheFirstReplicaAgain) {
  send(0);
  sinks_[0].coming = {request(0), request(0)};
  EXPECT_EQ(receive(), 0);
  send(0);
  EXPECT_THAT(sources_[1].sent, IsEmpty());
  EXPECT_EQ(receive(), 0);
}

TEST_F(Turns, OneUnknownPeerMakesAllOfThemUnknown) {
  EXPECT_EQ(to_string(links_.source().identity()), "in turns fake fake");
  sources_[1].authenticated = false;
  EXPECT_EQ(to_string(links_.source().identity()), "in turns fake fake (not authenticated)");
  EXPECT_TRUE(links_.sink().identity().authenticated);
}

TEST_F(Turns, AllOfThemEndAndClose) {
  const auto sent = links_.source().send(request(0, MessageKind::kEnd));
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->wire_bytes, 200U);
  for (const FakeLink& source : sources_) EXPECT_EQ(source.ends, 1);
  std::thread waiting([&] {
    const auto received = links_.sink().receive();
    EXPECT_FALSE(received);
  });
  links_.sink().close();
  waiting.join();
  links_.source().close();
  for (const FakeLink& link : sources_) EXPECT_TRUE(link.is_closed());
  for (const FakeLink& link : sinks_) EXPECT_TRUE(link.is_closed());
  EXPECT_FALSE(links_.source().send(request(1)));
}

}  // namespace
}  // namespace pareto::cluster
