// Faults on a real link: what the program at the other end receives.
#include "netem/packet_faults.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <random>
#include <thread>

#include "core/base/file_descriptor.h"
#include "netem/emulated_pair.h"
#include "netem/tcp_segment.h"

namespace pareto::netem {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes random_bytes(std::size_t count) {
  Bytes bytes(count);
  std::mt19937 random(1);  // NOLINT: the same bytes every time
  std::ranges::generate(bytes, [&] { return static_cast<unsigned char>(random()); });
  return bytes;
}

PacketFaults only(const std::shared_ptr<ActivePacketFault>& fault) { return {fault}; }

std::shared_ptr<ActivePacketFault> fault_of(const PacketFault& fault) {
  return std::make_shared<ActivePacketFault>(fault);
}

sockaddr_in place_of(const char* host) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(7100);
  inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

class PacketFaultsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto pair = EmulatedPair::create({}, EmulatorKind::kUser);
    if (!pair) GTEST_SKIP() << pair.error().message;
    pair_.emplace(*std::move(pair));
    const FileDescriptor listener = socket_in(pair_->second());
    ASSERT_EQ(::listen(listener.get(), 1), 0);
    near_ = socket_in(pair_->first());
    const sockaddr_in address = place_of(EmulatedPair::kSecond);
    ASSERT_EQ(::connect(near_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)),
              0);
    far_ = FileDescriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    ASSERT_TRUE(far_);
    be_patient(far_);
  }

  static void be_patient(const FileDescriptor& socket) {
    const timeval patience{20, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }

  static FileDescriptor socket_in(const LinkEnd& end) {
    FileDescriptor socket;
    const auto made = end.where.run([&]() -> Expected<> {
      socket = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      const sockaddr_in address = place_of(end.address.c_str());
      if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        return fail(ErrorCode::kInternal, "bind: {}", errno);
      }
      return {};
    });
    EXPECT_TRUE(made) << made.error().message;
    be_patient(socket);
    return socket;
  }

  void disturb(const std::shared_ptr<ActivePacketFault>& forward) const {
    const auto done = pair_->link().disturb(only(forward), {});
    ASSERT_TRUE(done) << done.error().message;
  }

  /// Sends the bytes over the link. Returns what came: as many, or those until the stream ended.
  Bytes across(const Bytes& sent) const {
    const std::jthread sender([&] { ::send(near_.get(), sent.data(), sent.size(), MSG_NOSIGNAL); });
    Bytes came(sent.size());
    std::size_t count = 0;
    while (count < came.size()) {
      const ssize_t got = ::recv(far_.get(), came.data() + count, came.size() - count, 0);
      if (got <= 0) {
        // The sender may wait for room.
        ::shutdown(near_.get(), SHUT_RDWR);
        break;
      }
      count += static_cast<std::size_t>(got);
    }
    came.resize(count);
    return came;
  }

  std::optional<EmulatedPair> pair_;
  FileDescriptor near_;
  FileDescriptor far_;
};

TEST_F(PacketFaultsTest, ABitIsAnotherInEachSegmentThatIsHit) {
  const Bytes sent = random_bytes(300'000);
  const auto fault = fault_of({.kind = PacketFaultKind::kCorrupt, .share = 0.2, .most = 7});
  disturb(fault);
  const Bytes came = across(sent);
  ASSERT_EQ(came.size(), sent.size());
  int bits = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) bits += std::popcount(unsigned(came[i] ^ sent[i]));
  EXPECT_EQ(bits, 7);
  EXPECT_EQ(fault->hits(), 7U);
  // Once it is over, nothing is wrong any more.
  ASSERT_TRUE(pair_->link().disturb({}, {}));
  EXPECT_EQ(across(sent), sent);
}

TEST_F(PacketFaultsTest, HalvesOfASegmentChangePlaces) {
  const Bytes sent = random_bytes(1000);
  disturb(fault_of({.kind = PacketFaultKind::kSwap, .most = 1}));
  Bytes expected = sent;
  std::rotate(expected.begin(), expected.begin() + 500, expected.end());
  EXPECT_EQ(across(sent), expected);
}

TEST_F(PacketFaultsTest, AHalfOfASegmentComesTwice) {
  const Bytes sent = random_bytes(1000);
  disturb(fault_of({.kind = PacketFaultKind::kRepeat, .most = 1}));
  Bytes expected = sent;
  std::copy_n(sent.begin(), 500, expected.begin() + 500);
  EXPECT_EQ(across(sent), expected);
}

TEST_F(PacketFaultsTest, AStreamEndsWithinASegment) {
  const Bytes sent = random_bytes(500'000);
  const auto fault =
      fault_of({.kind = PacketFaultKind::kTruncate, .share = 0.05, .most = 1, .seed = 3});
  disturb(fault);
  const Bytes came = across(sent);
  EXPECT_LT(came.size(), sent.size());
  EXPECT_TRUE(std::equal(came.begin(), came.end(), sent.begin()));
  EXPECT_EQ(fault->hits(), 1U);
}

TEST_F(PacketFaultsTest, AHalfClosedConnectionIsOpenTheOtherWay) {
  const Bytes sent = random_bytes(100);
  EXPECT_EQ(across(sent), sent);
  disturb(fault_of({.kind = PacketFaultKind::kHalfClose, .most = 1}));
  ASSERT_EQ(::send(near_.get(), sent.data(), sent.size(), 0), 100);
  char byte = 0;
  EXPECT_EQ(::recv(far_.get(), &byte, 1, 0), 0) << "the end of the stream";
  EXPECT_EQ(::send(far_.get(), "x", 1, 0), 1);
  EXPECT_EQ(::recv(near_.get(), &byte, 1, 0), 1);
  EXPECT_EQ(byte, 'x');
}

TEST_F(PacketFaultsTest, APartitionOneWayLosesWhatIsSentThatWay) {
  const auto fault = fault_of({.kind = PacketFaultKind::kDrop});
  disturb(fault);
  const Bytes sent = random_bytes(100);
  ASSERT_EQ(::send(near_.get(), sent.data(), sent.size(), 0), 100);
  char byte = 0;
  while (fault->hits() == 0) std::this_thread::yield();
  EXPECT_EQ(::recv(far_.get(), &byte, 1, MSG_DONTWAIT), -1);
  // TCP sends again what was lost.
  ASSERT_TRUE(pair_->link().disturb({}, {}));
  Bytes came(sent.size());
  EXPECT_EQ(::recv(far_.get(), came.data(), came.size(), MSG_WAITALL), 100);
  EXPECT_EQ(came, sent);
}

TEST(TcpSegment, OtherPacketsAreNone) {
  std::mt19937 random(1);  // NOLINT: the same bytes every time
  for (int i = 0; i < 100'000; ++i) {
    std::vector<std::byte> packet(random() % 80);
    std::ranges::generate(packet, [&] { return static_cast<std::byte>(random()); });
    // IPv4 and TCP more often than by chance.
    if (packet.size() > 20 && i % 2 == 0) packet[10] = std::byte{0x45}, packet[19] = std::byte{6};
    auto segment = TcpSegment::in(packet);
    if (!segment) continue;
    segment->end_after(random() % 40);
    EXPECT_LE(segment->finish().size(), packet.size());
  }
  EXPECT_FALSE(TcpSegment::in({}));
}

}  // namespace
}  // namespace pareto::netem
