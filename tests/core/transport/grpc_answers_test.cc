// Answers that no server of gRPC gives: those who ask live on.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <thread>

#include "core/base/file_descriptor.h"
#include "core/transport/transport.h"
#include "tests/core/transport/fixture.h"

namespace pareto::transport {
namespace {

using std::string_literals::operator""s;

// Frames of HTTP/2 (RFC 9113): three bytes of length, type, flags, four of the stream.
constexpr std::size_t kPreface = 24;
constexpr std::size_t kFrameHeader = 9;
constexpr char kHeadersType = 1;
const std::string kSettings = "\0\0\0\4\0\0\0\0\0"s;
/// ":status: 200" and "content-type: application/grpc".
const std::string kBegin = "\0\0\x13\1\4\0\0\0\1\x88\x5f\x10"s + "application/grpc";
/// Ends the stream with a header that is no status: "x: y".
const std::string kEndWithoutStatus = "\0\0\5\1\5\0\0\0\1\0\1x\1y"s;

/// Answers the first call of each connection with no status. Threads: one of its own.
class ServerWithoutStatus {
 public:
  ServerWithoutStatus() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), generic, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    EXPECT_EQ(::getsockname(listener_.get(), generic, &size), 0);
    address_ = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    serving_ = std::jthread([this] { serve(); });
  }
  ~ServerWithoutStatus() { ::shutdown(listener_.get(), SHUT_RDWR); }
  ServerWithoutStatus(const ServerWithoutStatus&) = delete;
  ServerWithoutStatus& operator=(const ServerWithoutStatus&) = delete;
  const std::string& address() const { return address_; }

 private:
  void serve() const {
    for (;;) {
      const FileDescriptor peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!peer) return;
      answer(peer);
    }
  }

  static void send(const FileDescriptor& peer, const std::string& bytes) {
    ::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  static void answer(const FileDescriptor& peer) {
    send(peer, kSettings);
    std::string received;
    std::size_t at = kPreface;
    std::array<char, 4096> bytes{};
    for (ssize_t got = 1; got > 0;) {
      got = ::recv(peer.get(), bytes.data(), bytes.size(), 0);
      if (got > 0) received.append(bytes.data(), static_cast<std::size_t>(got));
      while (received.size() >= at + kFrameHeader) {
        const auto byte = [&](std::size_t i) {
          return static_cast<std::size_t>(static_cast<unsigned char>(received[at + i]));
        };
        if (received[at + 3] == kHeadersType) send(peer, kBegin + kEndWithoutStatus);
        at += kFrameHeader + (byte(0) << 16 | byte(1) << 8 | byte(2));
      }
    }
  }

  FileDescriptor listener_;
  std::string address_;
  std::jthread serving_;
};

TEST(GrpcAnswers, WithoutAStatusAreErrors) {
  const ServerWithoutStatus server;
  const auto transport = must(make_transport("grpc"));
  const auto link = transport->connect(server.address(), soon(), {});
  if (!link) return;
  const auto received = (*link)->receive(soon());
  ASSERT_FALSE(received);
  EXPECT_NE(received.error().code, ErrorCode::kTimeout) << received.error().message;
}

}  // namespace
}  // namespace pareto::transport
