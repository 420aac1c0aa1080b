// What happens to the bytes of a tcp link with TLS on their way.
#include <gmock/gmock.h>
#include <sys/socket.h>

#include "core/transport/tcp/tls_session.h"
#include "tests/core/transport/byte_forwarder.h"
#include "tests/core/transport/test_credentials.h"
#include "tests/support/fault_figures.h"

namespace pareto::transport {
namespace {

using tcp::TlsSession;
using tcp::TlsSide;
using testing::HasSubstr;

constexpr std::int64_t kBodyBytes = 600'000;

LinkOptions secured(std::shared_ptr<const tls::Credentials> credentials) {
  LinkOptions options;
  // So that only TLS can notice.
  options.payload_checksum = false;
  options.credentials = std::move(credentials);
  return options;
}

/// A message that crosses a machine in the middle.
class TlsBytes : public testing::Test {
 protected:
  TlsBytes()
      : tcp_(must(make_transport("tcp"))),
        listener_(must(tcp_->listen("127.0.0.1:0", secured(test_credentials().device)))) {}

  /// Returns what the receiver gets of a message; `then`: what it gets after it.
  Expected<Received> cross(const Mischief& mischief, Deadline deadline = soon(),
                           Error* then = nullptr) {
    forwarder_ = std::make_unique<ByteForwarder>(listener_->address(), mischief);
    Async receiving([&]() -> Expected<Received> {
      PARETO_ASSIGN(const auto link, listener_->accept(soon()));
      auto received = link->receive(deadline);
      if (received && then != nullptr) *then = link->receive(deadline).error();
      return received;
    });
    {
      const auto link =
          tcp_->connect(forwarder_->address(), deadline, secured(test_credentials().coordinator));
      if (link) static_cast<void>((*link)->send(message_of(1, kBodyBytes), deadline));
    }
    return receiving.get();
  }

  std::unique_ptr<Transport> tcp_;
  std::unique_ptr<Listener> listener_;
  std::unique_ptr<ByteForwarder> forwarder_;
};

TEST_F(TlsBytes, ArriveAsTheyWereSent) {
  Error then;
  const auto received = cross({}, soon(), &then);
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_TRUE(bit_equal(received->message.body, message_of(1, kBodyBytes).body));
  EXPECT_EQ(then.code, ErrorCode::kClosed) << then.message;
  const std::string sent = forwarder_->sent();
  // The message's bytes are no text that anybody can read.
  EXPECT_EQ(sent.find("PFRM"), std::string::npos);
}

class TlsFaults : public TlsBytes {};

TEST_F(TlsFaults, BitsOfCiphertextThatFlip) {
  test::FaultRow row{.fault = "one bit of a TLS link's ciphertext flips",
                     .expected = "0 undetected",
                     .cycles = test::cycles(40, 2000)};
  std::size_t undetected = 0;
  for (std::size_t i = 1; i <= row.cycles; ++i) {
    const std::size_t at = 3000 + i * (kBodyBytes - 10'000) / row.cycles;
    const auto received = cross({.flips = at});
    undetected += received ? 1 : 0;
    if (received) continue;
    EXPECT_EQ(received.error().code, ErrorCode::kCorrupt) << received.error().message;
  }
  EXPECT_EQ(undetected, 0U);
  row.add("undetected", undetected);
  test::record(row);
}

TEST_F(TlsBytes, ChangedBitsOfTheHandshakeLetNobodyIn) {
  // Some change nothing but a length: then one side waits for bytes that nobody sends.
  const auto patience = [] { return deadline_after(std::chrono::milliseconds(300)); };
  for (std::size_t at = 0; at < 1200; at += 61) {
    const auto received = cross({.flips = at}, patience());
    if (!received) continue;
    // The bit meant nothing; the message is the one that was sent all the same.
    EXPECT_TRUE(bit_equal(received->message.body, message_of(1, kBodyBytes).body)) << at;
  }
}

TEST_F(TlsBytes, AnEndThatThePeerDidNotSayIsNoEnd) {
  Error then;
  // The last record, of 24 bytes, is the peer's farewell. Without it bytes may be missing.
  const auto received = cross({.swallows = 24}, soon(), &then);
  ASSERT_TRUE(received) << received.error().message;
  EXPECT_EQ(then.code, ErrorCode::kUnavailable) << then.message;
  EXPECT_THAT(then.message, HasSubstr("farewell"));
  const auto half = cross({.cuts_after = kBodyBytes / 2});
  ASSERT_FALSE(half);
  EXPECT_EQ(half.error().code, ErrorCode::kUnavailable) << half.error().message;
}

TEST_F(TlsBytes, AReplayIsRefused) {
  ASSERT_TRUE(cross({}));
  const std::string sent = forwarder_->sent();
  const FileDescriptor socket =
      must(open_connection(must(parse_host_port(listener_->address())), soon()));
  Async receiving([&] { return must(listener_->accept(soon()))->receive(soon()); });
  // It hangs up on the replay: what follows may find nobody.
  std::size_t from = 0;
  while (from < sent.size() && wait_until_ready(socket.get(), POLLOUT, nullptr, soon())) {
    const ssize_t some =
        ::send(socket.get(), sent.data() + from, sent.size() - from, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (some < 0) break;
    from += static_cast<std::size_t>(some);
  }
  const auto received = receiving.get();
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::kCorrupt) << received.error().message;
}

TEST_F(TlsBytes, APeerWhoseDaemonIsStoppedIsNamed) {
  // The kernel takes the connection, and nobody shakes hands.
  const FileDescriptor silent = must(open_listener(must(parse_host_port("127.0.0.1:0"))));
  const auto link =
      tcp_->connect(local_address(silent), shortly(), secured(test_credentials().coordinator));
  ASSERT_EQ(code_of(link), ErrorCode::kTimeout);
  EXPECT_THAT(link.error().message, HasSubstr("may be stopped"));
}

/// Two sessions on one machine, without a thread.
struct Sessions {
  explicit Sessions(std::uint64_t records_per_key) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    sockets = {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
    client = must(TlsSession::open(sockets[0], *test_credentials().coordinator,
                                   TlsSide::kConnecting, records_per_key));
    server = must(TlsSession::open(sockets[1], *test_credentials().device, TlsSide::kAccepting,
                                   records_per_key));
    bool over = false;
    while (!over) {
      const bool one = must(client->handshake());
      EXPECT_TRUE(client->flush());
      over = must(server->handshake()) && one;
      EXPECT_TRUE(server->flush());
    }
  }

  /// Sends one record and returns what came of it.
  static std::string pass(TlsSession& from, TlsSession& to, const std::string& text) {
    const iovec part{const_cast<char*>(text.data()), text.size()};
    EXPECT_EQ(must(from.encrypt({&part, 1})), text.size());
    EXPECT_TRUE(must(from.flush()));
    std::string got(text.size() + 1, '\0');
    const auto some = must(to.decrypt(std::as_writable_bytes(std::span(got))));
    got.resize(some.value_or(0));
    return got;
  }

  std::array<FileDescriptor, 2> sockets;
  std::unique_ptr<TlsSession> client;
  std::unique_ptr<TlsSession> server;
};

TEST(TlsSessions, ChangeTheirKeysInTime) {
  Sessions often(3);
  Sessions never(1000);
  for (int i = 0; i < 20; ++i) {
    const std::string text = "record " + std::to_string(i);
    for (Sessions* sessions : {&often, &never}) {
      EXPECT_EQ(Sessions::pass(*sessions->client, *sessions->server, text), text);
      EXPECT_EQ(Sessions::pass(*sessions->server, *sessions->client, text), text);
    }
  }
  EXPECT_EQ(often.client->key_changes(), 6U);
  EXPECT_EQ(never.client->key_changes(), 0U);
}

TEST(TlsSessions, SmallPartsShareRecordsAndLargeOnesFillThem) {
  Sessions sessions(1000);
  std::string text(40'000, 'x');
  std::vector<iovec> parts;
  for (std::size_t at = 0; at < text.size(); at += 1000) parts.push_back({text.data() + at, 1000});
  EXPECT_EQ(must(sessions.client->encrypt(parts)), text.size());
  EXPECT_TRUE(must(sessions.client->flush()));
  std::vector<std::size_t> records;
  std::string got(text.size(), '\0');
  while (const auto some = must(sessions.server->decrypt(std::as_writable_bytes(std::span(got))))) {
    records.push_back(*some);
  }
  EXPECT_THAT(records, testing::ElementsAre(16384, 16384, 7232));
}

}  // namespace
}  // namespace pareto::transport
