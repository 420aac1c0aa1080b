// Bytes that change on their way, in a forwarder that stands on the sender's own machine.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/core/transport/byte_forwarder.h"
#include "tests/core/transport/fixture.h"

namespace pareto::transport {
namespace {

constexpr std::int64_t kBytes = 600'000;

/// Returns what comes of a message one of whose bytes is flipped; `same`: whether it is the message
/// that was sent.
Expected<bool> send_through(const std::string& name, std::size_t at, const LinkOptions& options) {
  const auto transport = must(make_transport(name));
  const auto listener = must(transport->listen("127.0.0.1:0"));
  const ByteForwarder forwarder(listener->address(), {.flips = at});
  Async accepting([&] { return listener->accept(soon()); });
  auto sender = must(transport->connect(forwarder.address(), soon(), options));
  auto receiver = must(accepting.get());
  const wire::Message message = message_of(1, kBytes);
  Async sending([&] { return sender->send(message, soon()); });
  auto received = receiver->receive(soon());
  receiver->close();
  static_cast<void>(sending.get());
  if (!received) return tl::unexpected(std::move(received).error());
  const auto bytes = [](const wire::Message& of) { return tensors_of(of.body).front()->bytes(); };
  return std::ranges::equal(bytes(received->message), bytes(message));
}

class Forwarders : public testing::TestWithParam<std::string> {};

TEST_P(Forwarders, NoByteChangesUnnoticed) {
  for (int i = 1; i <= 16; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * (kBytes / 18);
    const auto same = send_through(GetParam(), at, {});
    EXPECT_TRUE(!same || *same) << "byte " << at << " of " << kBytes;
    if (!same) {
      EXPECT_TRUE(same.error().code == ErrorCode::kCorrupt || GetParam() == "grpc")
          << same.error().message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, Forwarders, testing::Values("tcp", "grpc"),
                         [](const auto& one) { return one.param; });

TEST(Forwarders, WithoutAChecksumNobodyNotices) {
  const auto same = send_through("tcp", kBytes / 2, {.payload_checksum = false});
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_FALSE(*same);
}

}  // namespace
}  // namespace pareto::transport
