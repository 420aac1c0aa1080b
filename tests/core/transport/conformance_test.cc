// What every transport promises (core/transport/transport.h), over all that are built in: of
// messages here, of the rest in the files that conformance_suite.h names.
#include <algorithm>
#include <cstring>

#include "core/wire/codec_error.h"
#include "tests/core/transport/conformance_suite.h"

namespace pareto::transport {
namespace {

void expect_same(const wire::Message& a, const wire::Message& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.pipeline, b.pipeline);
  EXPECT_EQ(a.request, b.request);
  EXPECT_EQ(a.sequence, b.sequence);
  EXPECT_EQ(a.timeline, b.timeline);
  EXPECT_TRUE(bit_equal(a.body, b.body));
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
    const Pair links = connect(*listener, {.codec = codec});
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

TEST_P(Conformance, EitherEndChangesTheCodecThatItSendsBy) {
  auto zeros = Tensor::allocate(DType::kFloat32, {100'000});
  std::ranges::fill(zeros->mutable_bytes(), std::byte{0});
  wire::Message message;
  message.body = Tuple{{*zeros}};
  const Pair links = pair();
  for (const char* const name : {"zstd", "none", "fp16"}) {
    const auto codec = wire::find_codec(name);
    ASSERT_TRUE(codec) << codec.error().message;
    for (Link* const from : {links.client.get(), links.server.get()}) {
      Link& to = from == links.client.get() ? *links.server : *links.client;
      from->send_by(*codec);
      Async sending([&] { return from->send(message, soon()); });
      const auto received = to.receive(soon());
      const auto sent = sending.get();
      ASSERT_TRUE(sent) << sent.error().message;
      ASSERT_TRUE(received) << received.error().message;
      EXPECT_TRUE(bit_equal(received->message.body, message.body)) << name;
      const bool shrinks = transport_->reach() != Reach::kProcess && *codec != nullptr;
      EXPECT_EQ(sent->wire_bytes < 400'000, shrinks) << name;
    }
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
  LinkOptions small;
  small.limits.max_frame_bytes = 100'000;
  const auto listener = listen(small);
  Pair links = connect(*listener);
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

TEST_P(Conformance, WhoHasNotSaidWhoItIsSendsLittle) {
  if (!is_network()) GTEST_SKIP() << "strangers come by networks";
  LinkOptions of_strangers;
  of_strangers.limits.max_stranger_frame_bytes = 4096;
  const auto listener = listen(of_strangers);
  {
    Pair links = connect(*listener);
    Async sending([&] { return links.client->send(message_of(1, 5000), soon()); });
    EXPECT_EQ(code_of(links.server->receive(soon())), ErrorCode::kExhausted);
    links.server.reset();
    static_cast<void>(sending.get());
  }
  {
    // Nor do few bytes that stand for many.
    LinkOptions packed;
    packed.codec = wire::find_codec("zstd").value_or(nullptr);
    ASSERT_NE(packed.codec, nullptr);
    Pair links = connect(*listener, packed);
    wire::Message zeros = message_of(1, 0);
    zeros.kind = wire::MessageKind::kValues;
    Tensor tensor = Tensor::allocate(DType::kFloat32, {1 << 20}).value();
    std::ranges::fill(tensor.mutable_bytes(), std::byte{0});
    zeros.body = std::move(tensor);
    Async sending([&] { return links.client->send(zeros, soon()); });
    EXPECT_EQ(code_of(links.server->receive(soon())), ErrorCode::kExhausted);
    links.server.reset();
    static_cast<void>(sending.get());
  }
  Pair links = connect(*listener);
  ASSERT_TRUE(links.client->send(message_of(1, 100), soon()));
  ASSERT_TRUE(links.server->receive(soon()));
  links.server->trust(200'000);
  ASSERT_TRUE(links.client->send(message_of(2, 100'000), soon()));
  EXPECT_TRUE(links.server->receive(soon())) << "who has said who it is may send more";
  Async sending([&] { return links.client->send(message_of(3, 300'000), soon()); });
  EXPECT_EQ(code_of(links.server->receive(soon())), ErrorCode::kExhausted);
  links.server.reset();
  static_cast<void>(sending.get());
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

std::vector<Way> ways() {
  std::vector<Way> all;
  for (const auto& transport : builtin_transports()) {
    all.push_back({std::string(transport->name())});
    if (transport->reach() == Reach::kNetwork)
      all.push_back({std::string(transport->name()), true});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Transports, Conformance, testing::ValuesIn(ways()), [](const auto& param) {
  return param.param.transport + (param.param.secured ? "_tls" : "");
});

TEST(Transports, AreFoundByName) {
  const std::vector<std::unique_ptr<Transport>> all = builtin_transports();
  EXPECT_GE(all.size(), 3U);
  for (const auto& one : all) EXPECT_EQ(must(make_transport(one->name()))->name(), one->name());
  const auto none = make_transport("tcpp");
  ASSERT_EQ(code_of(none), ErrorCode::kNotFound);
  EXPECT_NE(none.error().message.find("did you mean tcp"), std::string::npos)
      << none.error().message;
}

}  // namespace
}  // namespace pareto::transport
