// What every transport promises (core/transport/transport.h), over all that are built in.
#include <dirent.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/transport/socket.h"
#include "core/wire/codec_error.h"
#include "tests/core/transport/fixture.h"

namespace pareto::transport {
namespace {

class Conformance : public testing::TestWithParam<std::string> {
 protected:
  Conformance() : transport_(must(make_transport(GetParam()))) {}

  std::unique_ptr<Listener> listen(const Limits& limits = {}) {
    return must(transport_->listen(listen_address(*transport_), limits));
  }
  Pair connect(Listener& listener, const Limits& limits = {}) {
    auto client = must(transport_->connect(listener.address(), soon(), limits));
    return {std::move(client), must(listener.accept(soon()))};
  }
  Pair pair(const Limits& limits = {}) {
    const auto listener = listen(limits);
    return connect(*listener, limits);
  }
  bool is_network() const { return transport_->reach() == Reach::kNetwork; }

  std::unique_ptr<Transport> transport_;
};

void expect_same(const wire::Message& a, const wire::Message& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.pipeline, b.pipeline);
  EXPECT_EQ(a.request, b.request);
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.timeline, b.timeline);
  EXPECT_TRUE(bit_equal(a.body, b.body));
}

/// How often the other side took a message, and the error that ended it.
struct Filled {
  int sent = 0;
  Error error;
};
Filled fill(Link& link, std::int64_t bytes, Deadline deadline) {
  Filled filled;
  const wire::Message message = message_of(0, bytes);
  while (true) {
    const auto sent = link.send(message, deadline);
    if (!sent) {
      filled.error = sent.error();
      return filled;
    }
    ++filled.sent;
  }
}

TEST_P(Conformance, MessagesArriveInOrderBothWays) {
  Pair links = pair();
  constexpr std::uint64_t kCount = 300;
  const auto message = [](std::uint64_t i) {
    return message_of(i, static_cast<std::int64_t>(i * 37));
  };
  for (const bool client_sends : {true, false}) {
    Link& sender = client_sends ? *links.client : *links.server;
    Link& receiver = client_sends ? *links.server : *links.client;
    const std::jthread sending([&] {
      for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_TRUE(sender.send(message(i), soon()));
    });
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const auto received = receiver.receive(soon());
      ASSERT_TRUE(received) << received.error().message;
      expect_same(received->message, message(i));
    }
  }
}

TEST_P(Conformance, EverythingInAMessageArrives) {
  Pair links = pair();
  wire::Message message = message_of(1, 100);
  message.kind = wire::MessageKind::kError;
  message.sequence = 3;
  message.timeline = {{1, Nanoseconds(2), Nanoseconds(3), Nanoseconds(4), Nanoseconds(5),
                       Nanoseconds(6), Nanoseconds(7), Nanoseconds(8), Nanoseconds(9),
                       Nanoseconds(10), Nanoseconds(11)}};
  message.body = Dict{{{"a", List{{None{}, true, std::int64_t{-1}}}}, {1.5, Uninitialized{}}}};
  const auto sent = links.client->send(message, soon());
  ASSERT_TRUE(sent) << sent.error().message;
  const auto received = links.server->receive(soon());
  ASSERT_TRUE(received) << received.error().message;
  expect_same(received->message, message);
  EXPECT_EQ(sent->wire_bytes, received->wire_bytes);
  EXPECT_GT(sent->wire_bytes, 64U);
}

TEST_P(Conformance, TellsWhenAMessageCameAndWhatItTook) {
  Pair links = pair();
  const TimePoint start = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) {
    const std::jthread sending([&] {
      const auto sent = links.client->send(message_of(1, 1 << 20), soon());
      ASSERT_TRUE(sent);
      EXPECT_GT(sent->cpu, Nanoseconds(0));
      EXPECT_LE(sent->encode + sent->send, std::chrono::steady_clock::now() - start);
    });
    const TimePoint asked = std::chrono::steady_clock::now();
    const auto received = links.server->receive(soon());
    const TimePoint end = std::chrono::steady_clock::now();
    ASSERT_TRUE(received);
    EXPECT_GE(received->arrived, asked);
    EXPECT_GE(received->receive, Nanoseconds(0));
    EXPECT_EQ(received->decode, Nanoseconds(0));
    EXPECT_GE(received->cpu, Nanoseconds(0));
    EXPECT_LE(received->arrived + received->receive + received->decode, end);
  }
}

TEST_P(Conformance, BodiesOfEverySizeArrive) {
  Pair links = pair();
  for (const std::int64_t bytes : {0L, 1L, 63L, 4096L, 1L << 20, (1L << 20) - 177, 64L << 20}) {
    const wire::Message message = message_of(5, bytes);
    Async sending([&] { return links.client->send(message, soon()); });
    const auto received = links.server->receive(soon());
    const auto sent = sending.get();
    ASSERT_TRUE(sent) << sent.error().message;
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_TRUE(bit_equal(received->message.body, message.body)) << bytes;
    EXPECT_GE(received->wire_bytes, static_cast<std::uint64_t>(bytes));
  }
  wire::Message empty;
  empty.kind = wire::MessageKind::kEnd;
  ASSERT_TRUE(links.client->send(empty, soon()));
  const auto received = links.server->receive(soon());
  ASSERT_TRUE(received);
  expect_same(received->message, empty);
}

TEST_P(Conformance, WhatACodecMadeArrivesDecoded) {
  auto tensor = Tensor::allocate(DType::kFloat32, {100'000});
  for (std::size_t i = 0; i < 100'000; ++i) {
    const float number = i % 3 == 0 ? 0 : static_cast<float>(i % 1000);
    std::memcpy(tensor->mutable_bytes().data() + i * sizeof(float), &number, sizeof(number));
  }
  wire::Message message;
  message.body = Tuple{{*tensor, std::int64_t{7}}};
  const auto listener = listen();
  for (const wire::Codec* codec : wire::builtin_codecs()) {
    Limits limits;
    limits.codec = codec;
    const Pair links = connect(*listener, limits);
    const auto sent = links.client->send(message, soon());
    ASSERT_TRUE(sent) << sent.error().message;
    const auto received = links.server->receive(soon());
    ASSERT_TRUE(received) << codec->name() << ": " << received.error().message;
    const Tensor& found = *received->message.body.get_if<Tuple>()->items[0].get_if<Tensor>();
    const auto error = wire::codec_error(*tensor, found);
    EXPECT_LE(error.max, codec->lossless() ? 0 : 1e-2) << codec->name();
    const bool travels = transport_->reach() != Reach::kProcess;
    EXPECT_EQ(sent->wire_bytes < tensor->size_bytes(), travels) << codec->name();
  }
}

TEST_P(Conformance, HundredsOfTensorsInOneMessage) {
  Pair links = pair();
  List body;
  for (int i = 0; i < 700; ++i) {
    const wire::Message part = message_of(static_cast<std::uint64_t>(i), i * 13 % 5000);
    body.items.push_back(part.body.get_if<Tuple>()->items[0]);
  }
  wire::Message message;
  message.body = std::move(body);
  Async sending([&] { return links.server->send(message, soon()); });
  const auto received = links.client->receive(soon());
  ASSERT_TRUE(sending.get());
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_TRUE(bit_equal(received->message.body, message.body));
}

TEST_P(Conformance, PortZeroPicksAFreeOne) {
  const auto first = listen();
  const auto second = listen();
  EXPECT_NE(first->address(), second->address());
  EXPECT_FALSE(first->address().ends_with(":0")) << first->address();
  const Pair to_first = connect(*first);
  const Pair to_second = connect(*second);
  ASSERT_TRUE(to_first.client->send(message_of(1, 10), soon()));
  ASSERT_TRUE(to_second.client->send(message_of(2, 10), soon()));
  EXPECT_EQ(must(to_first.server->receive(soon())).message.request, 1U);
  EXPECT_EQ(must(to_second.server->receive(soon())).message.request, 2U);
}

TEST_P(Conformance, AnAddressInUseIsRefusedAndNamed) {
  const auto listener = listen();
  const auto second = transport_->listen(listener->address(), {});
  ASSERT_EQ(code_of(second), ErrorCode::kPermission);
  EXPECT_NE(second.error().message.find(listener->address()), std::string::npos)
      << second.error().message;
  EXPECT_NE(second.error().message.find("in use"), std::string::npos) << second.error().message;
}

TEST_P(Conformance, ConnectingToNobodyFailsAtOnce) {
  std::string address;
  {
    const auto listener = listen();
    address = listener->address();
  }
  const auto link = transport_->connect(address, soon(), {});
  ASSERT_EQ(code_of(link), ErrorCode::kUnavailable);
  EXPECT_NE(link.error().message.find(address), std::string::npos) << link.error().message;
}

TEST_P(Conformance, WhatIsNoAddressIsRefused) {
  EXPECT_EQ(code_of(transport_->connect("", soon(), {})), ErrorCode::kInvalidArgument);
  if (!is_network()) return;
  for (const char* address : {"127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:70000", "::1:80",
                              "[::1]", "a b:80", "127.0.0.1:http"}) {
    EXPECT_EQ(code_of(transport_->listen(address, {})), ErrorCode::kInvalidArgument) << address;
    EXPECT_EQ(code_of(transport_->connect(address, soon(), {})), ErrorCode::kInvalidArgument)
        << address;
  }
  EXPECT_EQ(code_of(transport_->connect("127.0.0.1:0", soon(), {})), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(transport_->listen("192.0.2.1:0", {})), ErrorCode::kInvalidArgument);
}

TEST_P(Conformance, SpeaksIpv6) {
  if (!is_network()) GTEST_SKIP() << "has no addresses";
  const auto listener = transport_->listen("[::1]:0", {});
  if (!listener) GTEST_SKIP() << "no IPv6 here: " << listener.error().message;
  EXPECT_TRUE((*listener)->address().starts_with("[::1]:")) << (*listener)->address();
  const Pair links = connect(**listener);
  ASSERT_TRUE(links.client->send(message_of(1, 10), soon()));
  ASSERT_TRUE(links.server->receive(soon()));
  EXPECT_NE(links.server->peer().find("[::1]:"), std::string::npos) << links.server->peer();
}

TEST_P(Conformance, PeersAreNamed) {
  const Pair links = pair();
  const std::string expected = GetParam() + (is_network() ? " 127.0.0.1:" : " ");
  EXPECT_TRUE(links.client->peer().starts_with(expected)) << links.client->peer();
  EXPECT_TRUE(links.server->peer().starts_with(expected)) << links.server->peer();
}

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

TEST_P(Conformance, AcceptedLinksOutliveTheirListener) {
  auto listener = listen();
  const std::string address = listener->address();
  Pair links = connect(*listener);
  listener->close();
  EXPECT_EQ(code_of(transport_->connect(address, soon(), {})), ErrorCode::kUnavailable);
  ASSERT_TRUE(links.client->send(message_of(1, 10), soon()));
  ASSERT_TRUE(links.server->receive(soon()));
  listener.reset();
  ASSERT_TRUE(links.server->send(message_of(2, 10), soon()));
  ASSERT_TRUE(links.client->receive(soon()));
}

TEST_P(Conformance, AListenersAddressIsFreeOnceItIsGone) {
  std::string address;
  {
    const auto listener = listen();
    address = listener->address();
    const Pair links = connect(*listener);
    ASSERT_TRUE(links.client->send(message_of(1, 10), soon()));
    ASSERT_TRUE(links.server->receive(soon()));
  }
  const auto again = transport_->listen(address, {});
  EXPECT_TRUE(again) << again.error().message;
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

TEST_P(Conformance, ASlowReceiverBlocksTheSender) {
  constexpr std::int64_t kBytes = 8 << 20;
  Pair links = pair();
  const Filled filled = fill(*links.client, kBytes, deadline_after(std::chrono::seconds(2)));
  EXPECT_EQ(filled.error.code, ErrorCode::kTimeout) << filled.error.message;
  // Buffers of the transport and of the kernel, nothing that grows with what is sent.
  EXPECT_LE(filled.sent, 4);
  for (int i = 0; i < filled.sent; ++i) {
    const auto received = links.server->receive(soon());
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_EQ(tensor_bytes(received->message.body), static_cast<std::uint64_t>(kBytes));
  }
}

TEST_P(Conformance, OversizedFramesAreRefusedByBothEnds) {
  Limits small;
  small.max_frame_bytes = 100'000;
  const auto listener = listen(small);
  Pair links = connect(*listener, Limits{});
  ASSERT_TRUE(links.client->send(message_of(1, 99'000), soon()));
  ASSERT_TRUE(links.server->receive(soon()));
  // Refused before it is sent; the link lives on.
  EXPECT_EQ(code_of(links.server->send(message_of(2, 100'000), soon())), ErrorCode::kExhausted);
  ASSERT_TRUE(links.server->send(message_of(3, 99'000), soon()));
  ASSERT_TRUE(links.client->receive(soon()));
  // Refused when it arrives; the link closes.
  Async sending([&] { return links.client->send(message_of(4, 50 << 20), soon()); });
  EXPECT_EQ(code_of(links.server->receive(soon())), ErrorCode::kExhausted);
  EXPECT_EQ(code_of(links.server->receive(soon())), ErrorCode::kClosed);
  if (const auto sent = sending.get(); !sent) {
    EXPECT_EQ(sent.error().code, ErrorCode::kClosed) << sent.error().message;
  }
  links.server.reset();
  const ErrorCode code = code_of(links.client->receive(soon()));
  EXPECT_TRUE(code == ErrorCode::kClosed || code == ErrorCode::kUnavailable) << to_string(code);
}

TEST_P(Conformance, GarbageHarmsNobodyElse) {
  if (!is_network()) GTEST_SKIP() << "carries no bytes";
  const auto listener = listen();
  const std::string garbage(100'000, '\x5A');
  const HostPort address = must(parse_host_port(listener->address()));
  std::vector<FileDescriptor> strangers;
  for (int i = 0; i < 3; ++i) {
    strangers.push_back(must(open_connection(address, soon())));
    // May fail when the other side hangs up before all of it is taken.
    [[maybe_unused]] const auto sent =
        ::send(strangers.back().get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
  }
  // One that starts like a frame and hangs up.
  strangers.push_back(must(open_connection(address, soon())));
  ASSERT_EQ(::send(strangers.back().get(), "PFRM", 4, MSG_NOSIGNAL), 4);
  strangers.pop_back();

  const auto client = must(transport_->connect(listener->address(), soon(), {}));
  ASSERT_TRUE(client->send(message_of(42, 10), soon()));
  // A transport without a handshake hands the strangers out as links: those fail, and only they.
  while (true) {
    const auto link = must(listener->accept(soon()));
    const auto received = link->receive(soon());
    if (received) {
      EXPECT_EQ(received->message.request, 42U);
      break;
    }
    const ErrorCode code = received.error().code;
    EXPECT_TRUE(code == ErrorCode::kCorrupt || code == ErrorCode::kUnavailable)
        << received.error().message;
    if (code == ErrorCode::kCorrupt) {
      EXPECT_EQ(code_of(link->receive(soon())), ErrorCode::kClosed);
    }
  }
}

TEST_P(Conformance, BothDirectionsAtOnceOnOneLink) {
  Pair links = pair();
  constexpr std::uint64_t kCount = 40;
  constexpr std::int64_t kBytes = 1 << 20;
  const auto work = [](Link& link) {
    const std::jthread sending([&link] {
      for (std::uint64_t i = 0; i < kCount; ++i) {
        ASSERT_TRUE(link.send(message_of(i, kBytes), soon()));
      }
    });
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const auto received = link.receive(soon());
      ASSERT_TRUE(received) << received.error().message;
      ASSERT_TRUE(bit_equal(received->message.body, message_of(i, kBytes).body));
    }
  };
  const std::jthread other([&] { work(*links.server); });
  work(*links.client);
}

TEST_P(Conformance, TwoLinksDoNotMix) {
  const auto listener = listen();
  Pair first = connect(*listener);
  Pair second = connect(*listener);
  // The first is stuck; the second does not care.
  Async stuck([&] { return fill(*first.client, 1 << 20, std::nullopt); });
  for (std::uint64_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(second.client->send(message_of(i, 10'000), soon()));
    const auto received = second.server->receive(soon());
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_EQ(received->message.request, i);
  }
  first.client->close();
  const Filled filled = stuck.get();
  EXPECT_EQ(filled.error.code, ErrorCode::kClosed) << filled.error.message;
}

std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

TEST_P(Conformance, AHundredConnectionsLeaveNoDescriptorBehind) {
  const auto cycle = [&](int i) {
    const auto listener = listen();
    Pair links = connect(*listener);
    ASSERT_TRUE(links.client->send(message_of(1, 100), soon()));
    ASSERT_TRUE(links.server->receive(soon()));
    (i % 2 == 0 ? links.client : links.server).reset();
  };
  // A library may open some for itself the first time.
  for (int i = 0; i < 5; ++i) cycle(i);
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 100; ++i) cycle(i);
  // A library may close them a moment later; none of the hundred may stay.
  const Deadline deadline = soon();
  while (open_descriptors() > before + 4 && std::chrono::steady_clock::now() < *deadline) {
    std::this_thread::yield();
  }
  EXPECT_LE(open_descriptors(), before + 4);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& transport : builtin_transports()) all.emplace_back(transport->name());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Transports, Conformance, testing::ValuesIn(names()),
                         [](const auto& param) { return param.param; });

TEST(Transports, AreFoundByName) {
  EXPECT_GE(names().size(), 3U);
  for (const std::string& name : names()) EXPECT_EQ(must(make_transport(name))->name(), name);
  const auto none = make_transport("tcpp");
  ASSERT_EQ(code_of(none), ErrorCode::kNotFound);
  EXPECT_NE(none.error().message.find("did you mean tcp"), std::string::npos)
      << none.error().message;
}

}  // namespace
}  // namespace pareto::transport
