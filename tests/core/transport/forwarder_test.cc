// Bytes that change on their way, in a forwarder that stands on the sender's own machine.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include "core/transport/socket.h"
#include "tests/core/transport/fixture.h"

namespace pareto::transport {
namespace {

/// Passes one connection on, and changes one byte of what goes forward.
class FlippingForwarder {
 public:
  /// `at`: the byte's place in what the connecting side sends.
  FlippingForwarder(const std::string& to, std::size_t at)
      : listening_(must(open_listener(must(parse_host_port("127.0.0.1:0"))))),
        waker_(must(Waker::create())),
        to_(to),
        at_(at),
        thread_([this] { forward(); }) {}
  ~FlippingForwarder() { waker_.wake(); }
  std::string address() const { return local_address(listening_); }

 private:
  void forward() {
    auto here = accept_connection(listening_, waker_, soon());
    auto there = open_connection(must(parse_host_port(to_)), soon());
    if (!here || !there) return;
    const std::jthread back([&] { pump(there->get(), here->get(), false); });
    pump(here->get(), there->get(), true);
  }

  /// Pumps until the connection ends.
  void pump(int from, int to, bool flips) {
    std::array<char, 65536> bytes{};
    std::size_t passed = 0;
    while (wait_until_ready(from, POLLIN, &waker_, std::nullopt)) {
      const ssize_t got = ::recv(from, bytes.data(), bytes.size(), 0);
      if (got <= 0 && errno == EAGAIN) continue;
      if (got <= 0) break;
      const auto size = static_cast<std::size_t>(got);
      if (flips && at_ >= passed && at_ < passed + size) bytes[at_ - passed] ^= 0x10;
      passed += size;
      for (std::size_t sent = 0; sent < size;) {
        if (!wait_until_ready(to, POLLOUT, &waker_, std::nullopt)) return;
        const ssize_t now = ::send(to, bytes.data() + sent, size - sent, MSG_NOSIGNAL);
        if (now < 0 && errno != EAGAIN) return;
        sent += static_cast<std::size_t>(std::max<ssize_t>(now, 0));
      }
    }
    ::shutdown(to, SHUT_WR);
  }

  FileDescriptor listening_;
  Waker waker_;
  const std::string to_;
  const std::size_t at_;
  std::jthread thread_;  // last: it uses all of the above
};

constexpr std::int64_t kBytes = 600'000;

/// Returns what comes of a message one of whose bytes is flipped; `same`: whether it is the message
/// that was sent.
Expected<bool> send_through(const std::string& name, std::size_t at, const LinkOptions& options) {
  const auto transport = must(make_transport(name));
  const auto listener = must(transport->listen("127.0.0.1:0"));
  const FlippingForwarder forwarder(listener->address(), at);
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
