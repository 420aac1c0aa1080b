// What every transport promises of ends and deadlines.
#include "tests/core/transport/conformance_suite.h"

namespace pareto::transport {
namespace {

TEST_P(Conformance, AClosedPeersMessagesArriveThenClosed) {
  for (const bool client_closes : {true, false}) {
    Pair links = pair();
    const auto& closing = client_closes ? links.client : links.server;
    const auto& staying = client_closes ? links.server : links.client;
    for (std::uint64_t i = 0; i < 2; ++i) {
      ASSERT_TRUE(closing->send(message_of(i, 1000), soon()));
    }
    closing->close();
    for (std::uint64_t i = 0; i < 2; ++i) {
      const auto received = staying->receive(soon());
      ASSERT_TRUE(received) << received.error().message;
      EXPECT_EQ(received->message.request, i);
    }
    EXPECT_EQ(code_of(staying->receive(soon())), ErrorCode::kClosed);
    EXPECT_EQ(code_of(staying->receive(soon())), ErrorCode::kClosed);
    const Filled filled = fill(*staying, 1 << 20, soon());
    EXPECT_EQ(filled.error.code, ErrorCode::kClosed) << filled.error.message;
  }
}

TEST_P(Conformance, ADestroyedPeersMessagesArriveThenClosed) {
  for (const bool client_goes : {true, false}) {
    Pair links = pair();
    auto& going = client_goes ? links.client : links.server;
    auto& staying = client_goes ? links.server : links.client;
    // Unread by the one that goes: must not take away what it sent.
    ASSERT_TRUE(staying->send(message_of(9, 1000), soon()));
    ASSERT_TRUE(going->send(message_of(1, 1000), soon()));
    going.reset();
    const auto received = staying->receive(soon());
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_EQ(received->message.request, 1U);
    EXPECT_EQ(code_of(staying->receive(soon())), ErrorCode::kClosed);
  }
}

TEST_P(Conformance, APeerThatClosesWakesABlockedReceiveAndSend) {
  for (const bool client_closes : {true, false}) {
    Pair links = pair();
    const auto& closing = client_closes ? links.client : links.server;
    const auto& staying = client_closes ? links.server : links.client;
    Async receiving([&] { return staying->receive(soon()); });
    Async sending([&] { return fill(*staying, 1 << 20, soon()); });
    closing->close();
    EXPECT_EQ(code_of(receiving.get()), ErrorCode::kClosed);
    const Filled filled = sending.get();
    EXPECT_EQ(filled.error.code, ErrorCode::kClosed) << filled.error.message;
  }
}

TEST_P(Conformance, OwnCloseWakesABlockedReceive) {
  Pair links = pair();
  Async receiving([&] { return links.server->receive(); });
  links.server->close();
  EXPECT_EQ(code_of(receiving.get()), ErrorCode::kClosed);
  EXPECT_EQ(code_of(links.server->receive()), ErrorCode::kClosed);
  EXPECT_EQ(code_of(links.server->send(message_of(0, 1))), ErrorCode::kClosed);
  links.server->close();
}

TEST_P(Conformance, OwnCloseWakesABlockedSend) {
  Pair links = pair();
  Async sending([&] { return fill(*links.client, 4 << 20, std::nullopt); });
  // The peer reads one message and no more: the sender surely runs, and surely will block.
  ASSERT_TRUE(links.server->receive(soon()));
  links.client->close();
  const Filled filled = sending.get();
  EXPECT_EQ(filled.error.code, ErrorCode::kClosed) << filled.error.message;
}

TEST_P(Conformance, OwnCloseWakesABlockedAccept) {
  const auto listener = listen();
  Async accepting([&] { return listener->accept(); });
  listener->close();
  EXPECT_EQ(code_of(accepting.get()), ErrorCode::kClosed);
  EXPECT_EQ(code_of(listener->accept()), ErrorCode::kClosed);
  listener->close();
}

TEST_P(Conformance, DeadlinesPassAndTheLinkLivesOn) {
  const auto listener = listen();
  EXPECT_EQ(code_of(listener->accept(shortly())), ErrorCode::kTimeout);
  Pair links = connect(*listener);
  EXPECT_EQ(code_of(links.server->receive(shortly())), ErrorCode::kTimeout);
  EXPECT_EQ(code_of(links.client->receive(std::chrono::steady_clock::now())), ErrorCode::kTimeout);
  ASSERT_TRUE(links.client->send(message_of(1, 10), soon()));
  ASSERT_TRUE(links.server->receive(soon()));
  ASSERT_TRUE(links.server->send(message_of(1, 10), soon()));
  ASSERT_TRUE(links.client->receive(soon()));
}

}  // namespace
}  // namespace pareto::transport
