// One suite over every emulator: what a link with a condition on it does, with each of them.
#include "netem/link_emulator.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "core/base/file_descriptor.h"

namespace pareto::netem {
namespace {

using std::chrono::milliseconds;

constexpr const char* kFirst = "10.213.0.1";
constexpr const char* kSecond = "10.213.0.2";

double milliseconds_since(TimePoint start) {
  return to_milliseconds(std::chrono::steady_clock::now() - start);
}

sockaddr_in address_of(const char* host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, host, &address.sin_addr);
  return address;
}

const sockaddr* plain(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

std::vector<char> noise(std::size_t bytes) {
  std::vector<char> data(bytes);
  std::mt19937 random(1);  // NOLINT: the same bytes every time
  std::ranges::generate(data, [&] { return static_cast<char>(random()); });
  return data;
}

/// Returns how many bytes came, all that there is room for; -1: an error. Programs that end in
/// another thread interrupt a wait.
ssize_t receive_all(const FileDescriptor& socket, std::vector<char>& data) {
  std::size_t received = 0;
  while (received < data.size()) {
    const ssize_t got =
        ::recv(socket.get(), data.data() + received, data.size() - received, MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got;
    received += static_cast<std::size_t>(got);
  }
  return std::ssize(data);
}

/// Two namespaces with an emulated link, and sockets in them.
class LinkEmulatorTest : public ::testing::TestWithParam<EmulatorKind> {
 protected:
  void SetUp() override {
    auto first = NetworkNamespace::create();
    auto second = NetworkNamespace::create();
    if (!first || !second) {
      GTEST_SKIP() << "no namespaces here: " << (first ? second : first).error().message;
    }
    first_.emplace(*std::move(first));
    second_.emplace(*std::move(second));
  }

  /// Joins the two ends. False: this machine cannot, and the test is skipped.
  bool join(const plan::Condition& condition) {
    auto link = LinkEmulator::create({*first_, kFirst}, {*second_, kSecond}, condition, GetParam());
    if (!link) {
      skipped_ = link.error().message;
      return false;
    }
    link_ = *std::move(link);
    return true;
  }

  static FileDescriptor bound_in(const NetworkNamespace& where, const char* host, int type) {
    FileDescriptor socket;
    const auto made = where.run([&]() -> Expected<> {
      socket = FileDescriptor(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
      const sockaddr_in address = address_of(host, 7000);
      if (::bind(socket.get(), plain(address), sizeof(address)) != 0) {
        return fail(ErrorCode::kInternal, "bind: {}", errno);
      }
      // A test that waits for what never comes fails instead.
      const timeval patience{20, 0};
      setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
      return {};
    });
    EXPECT_TRUE(made) << made.error().message;
    return socket;
  }

  /// A TCP connection from the first end to the second.
  void connect() {
    const FileDescriptor listener = bound_in(*second_, kSecond, SOCK_STREAM);
    ASSERT_EQ(::listen(listener.get(), 1), 0);
    near_ = bound_in(*first_, kFirst, SOCK_STREAM);
    const sockaddr_in address = address_of(kSecond, 7000);
    ASSERT_EQ(::connect(near_.get(), plain(address), sizeof(address)), 0);
    far_ = FileDescriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    ASSERT_TRUE(far_);
  }

  /// Sends that many numbered datagrams to the second end, some at a time, and waits until each has
  /// arrived or was dropped. Returns what arrived, in that order.
  std::vector<int> numbers_across(int count) {
    constexpr std::size_t kAtATime = 100;
    const FileDescriptor near = bound_in(*first_, kFirst, SOCK_DGRAM);
    const FileDescriptor far = bound_in(*second_, kSecond, SOCK_DGRAM);
    const sockaddr_in address = address_of(kSecond, 7000);
    const TimePoint patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::vector<int> arrived;
    std::set<int> seen;
    std::uint64_t dropped = 0;
    for (int number = 0; number < count; ++number) {
      EXPECT_GT(::sendto(near.get(), &number, sizeof(number), 0, plain(address), sizeof(address)),
                0);
      const std::size_t sent = static_cast<std::size_t>(number) + 1;
      if (sent % kAtATime != 0) continue;
      while (seen.size() + dropped < sent) {
        if (std::chrono::steady_clock::now() > patience) return arrived;
        pollfd polled{far.get(), POLLIN, 0};
        int got = -1;
        if (::poll(&polled, 1, 10) > 0 && ::recv(far.get(), &got, sizeof(got), 0) > 0) {
          arrived.push_back(got);
          seen.insert(got);
        } else {
          // Asked only now: it may take a program to be run.
          dropped = link_->dropped_packets();
        }
      }
    }
    return arrived;
  }

  std::optional<NetworkNamespace> first_;
  std::optional<NetworkNamespace> second_;
  std::unique_ptr<LinkEmulator> link_;
  std::string skipped_;
  FileDescriptor near_;
  FileDescriptor far_;
};

TEST_P(LinkEmulatorTest, ARoundTripTakesBothDelays) {
  plan::Condition condition;
  condition.forward.delay = milliseconds(30);
  condition.backward.delay = milliseconds(10);
  if (!join(condition)) GTEST_SKIP() << skipped_;
  connect();
  char byte = 1;
  const TimePoint start = std::chrono::steady_clock::now();
  ASSERT_EQ(::send(near_.get(), &byte, 1, 0), 1);
  ASSERT_EQ(::recv(far_.get(), &byte, 1, 0), 1);
  EXPECT_GE(milliseconds_since(start), 30);
  ASSERT_EQ(::send(far_.get(), &byte, 1, 0), 1);
  ASSERT_EQ(::recv(near_.get(), &byte, 1, 0), 1);
  EXPECT_GE(milliseconds_since(start), 40);
  EXPECT_EQ(link_->lost_packets(), 0U);
}

TEST_P(LinkEmulatorTest, DataArrivesIntactNoFasterThanTheRate) {
  plan::Condition condition;
  condition.forward.delay = milliseconds(2);
  condition.forward.bits_per_second = 80'000'000;
  if (!join(condition)) GTEST_SKIP() << skipped_;
  connect();
  const std::vector<char> data = noise(2'000'000);
  const TimePoint start = std::chrono::steady_clock::now();
  const std::jthread sender(
      [&] { EXPECT_EQ(::send(near_.get(), data.data(), data.size(), 0), std::ssize(data)); });
  std::vector<char> received(data.size());
  ASSERT_EQ(receive_all(far_, received), std::ssize(data));
  // 10 MB/s, but for what the bucket lets pass at once.
  EXPECT_GE(milliseconds_since(start), 190);
  EXPECT_TRUE(data == received);
  EXPECT_EQ(link_->lost_packets(), 0U);
}

TEST_P(LinkEmulatorTest, PacketsKeepTheirOrder) {
  plan::Condition condition;
  condition.forward.delay = milliseconds(5);
  if (!join(condition)) GTEST_SKIP() << skipped_;
  const FileDescriptor near = bound_in(*first_, kFirst, SOCK_DGRAM);
  const FileDescriptor far = bound_in(*second_, kSecond, SOCK_DGRAM);
  const sockaddr_in address = address_of(kSecond, 7000);
  for (int number = 0; number < 200; ++number) {
    ASSERT_GT(::sendto(near.get(), &number, sizeof(number), 0, plain(address), sizeof(address)), 0);
  }
  for (int expected = 0; expected < 200; ++expected) {
    int number = -1;
    ASSERT_GT(::recv(far.get(), &number, sizeof(number), 0), 0) << "packet " << expected;
    ASSERT_EQ(number, expected);
  }
}

TEST_P(LinkEmulatorTest, PacketsKeepTheirOrderWhileTheirDelaysDiffer) {
  plan::Condition condition;
  condition.forward.delay = milliseconds(10);
  condition.forward.jitter.deviation = milliseconds(3);
  if (!join(condition)) GTEST_SKIP() << skipped_;
  std::vector<int> in_order(300);
  std::iota(in_order.begin(), in_order.end(), 0);
  EXPECT_EQ(numbers_across(300), in_order);
}

TEST_P(LinkEmulatorTest, AConnectionThatIsThereLosesSinglePackets) {
  plan::Condition condition;
  condition.forward.loss = 0.05;
  if (!join(condition)) GTEST_SKIP() << skipped_;
  link_.reset();
  ASSERT_TRUE(join({})) << skipped_;
  connect();
  const std::vector<char> data = noise(1'000'000);
  std::vector<char> received(data.size());
  const auto send = [&] {
    const std::jthread sender(
        [&] { EXPECT_EQ(::send(near_.get(), data.data(), data.size(), 0), std::ssize(data)); });
    EXPECT_EQ(receive_all(far_, received), std::ssize(data));
  };
  send();
  const auto changed = link_->change(condition);
  ASSERT_TRUE(changed) << changed.error().message;
  send();
  EXPECT_TRUE(data == received);
  // Of some 690 packets 35. Joined ones would be a sixteenth or less.
  EXPECT_GE(link_->dropped_packets(), 10U);
}

TEST_P(LinkEmulatorTest, LosesTheShareAskedForOfEveryPacketByItself) {
  constexpr int kPackets = 20'000;
  plan::Condition condition;
  condition.forward.loss = 0.05;
  if (!join(condition)) GTEST_SKIP() << skipped_;
  const std::vector<int> arrived = numbers_across(kPackets);
  EXPECT_EQ(arrived.size(), kPackets - link_->dropped_packets());
  // The 99 % interval of a binomial distribution.
  const double lost = static_cast<double>(link_->dropped_packets()) / kPackets;
  EXPECT_NEAR(lost, 0.05, 2.576 * std::sqrt(0.05 * 0.95 / kPackets));
  EXPECT_EQ(link_->lost_packets(), 0U);
}

TEST_P(LinkEmulatorTest, PacketsMayArriveTwiceAndBeforeOthers) {
  constexpr int kPackets = 2'000;
  plan::Condition condition;
  condition.forward.delay = milliseconds(1);
  condition.forward.duplicate = 0.1;
  condition.forward.reorder = 0.1;
  if (!join(condition)) GTEST_SKIP() << skipped_;
  const std::vector<int> numbers = numbers_across(kPackets);
  const std::set<int> seen(numbers.begin(), numbers.end());
  EXPECT_EQ(std::ssize(seen), kPackets);
  EXPECT_NEAR(static_cast<double>(numbers.size() - seen.size()) / kPackets, 0.1, 0.02);
  int steps_back = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i)
    steps_back += numbers[i] < numbers[i - 1] ? 1 : 0;
  EXPECT_GT(steps_back, 0);
}

TEST_P(LinkEmulatorTest, ABadLinkDamagesNoStream) {
  plan::Condition condition;
  condition.forward.delay = condition.backward.delay = milliseconds(4);
  condition.forward.jitter.deviation = milliseconds(1);
  condition.forward.loss = condition.forward.duplicate = condition.forward.reorder = 0.01;
  condition.forward.bits_per_second = 200'000'000;
  if (!join(condition)) GTEST_SKIP() << skipped_;
  connect();
  const std::vector<char> data = noise(1'000'000);
  const std::jthread sender(
      [&] { EXPECT_EQ(::send(near_.get(), data.data(), data.size(), 0), std::ssize(data)); });
  std::vector<char> received(data.size());
  ASSERT_EQ(receive_all(far_, received), std::ssize(data));
  EXPECT_TRUE(data == received);
  EXPECT_GT(link_->dropped_packets(), 0U);
}

TEST_P(LinkEmulatorTest, ATraceChangesTheRate) {
  plan::Condition condition;
  condition.forward.trace = {{milliseconds(30), std::nullopt, 80'000'000}};
  if (!join(condition)) GTEST_SKIP() << skipped_;
  connect();
  // 10 MB/s from some time on; before, far faster.
  std::vector<char> block(200'000);
  const TimePoint patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  int slow = 0;
  while (slow < 3 && std::chrono::steady_clock::now() < patience) {
    const TimePoint start = std::chrono::steady_clock::now();
    const std::jthread sender(
        [&] { EXPECT_EQ(::send(near_.get(), block.data(), block.size(), 0), std::ssize(block)); });
    std::vector<char> received(block.size());
    ASSERT_EQ(receive_all(far_, received), std::ssize(received));
    slow = milliseconds_since(start) >= 18 ? slow + 1 : 0;
  }
  EXPECT_EQ(slow, 3);
  const auto checked = link_->check();
  EXPECT_TRUE(checked) << checked.error().message;
}

TEST_P(LinkEmulatorTest, AnotherConditionHoldsFromNowOn) {
  plan::Condition slow;
  slow.forward.delay = milliseconds(30);
  slow.forward.bits_per_second = 8'000'000;
  slow.forward.loss = 1e-9;  // packets one by one
  // Whether it can.
  if (!join(slow)) GTEST_SKIP() << skipped_;
  link_.reset();
  ASSERT_TRUE(join({})) << skipped_;
  connect();
  const auto changed = link_->change(slow);
  ASSERT_TRUE(changed) << changed.error().message;
  std::vector<char> data(100'000);
  const auto send = [&] {
    const TimePoint start = std::chrono::steady_clock::now();
    const std::jthread sender(
        [&] { EXPECT_EQ(::send(near_.get(), data.data(), data.size(), 0), std::ssize(data)); });
    EXPECT_EQ(receive_all(far_, data), std::ssize(data));
    return milliseconds_since(start);
  };
  EXPECT_GE(send(), 30 + 90);  // at a megabyte a second
  ASSERT_TRUE(link_->change({}));
  const TimePoint patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  double took = send();
  while (took >= 30 && std::chrono::steady_clock::now() < patience) took = send();
  EXPECT_LT(took, 30) << "never without the delay";
  EXPECT_TRUE(link_->check());
}

TEST_P(LinkEmulatorTest, NothingIsLeftBehind) {
  if (!join({})) GTEST_SKIP() << skipped_;
  link_.reset();
  // Devices and addresses are free again.
  EXPECT_TRUE(join({})) << skipped_;
}

TEST_P(LinkEmulatorTest, TellsWhichItIs) {
  if (!join({})) GTEST_SKIP() << skipped_;
  EXPECT_EQ(link_->kind(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Each, LinkEmulatorTest,
                         ::testing::Values(EmulatorKind::kUser, EmulatorKind::kTc),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

TEST(EmulatorKind, IsReadAsItIsWritten) {
  for (const EmulatorKind kind : {EmulatorKind::kAuto, EmulatorKind::kTc, EmulatorKind::kUser}) {
    EXPECT_EQ(parse_emulator_kind(to_string(kind)).value(), kind);
  }
  const auto unknown = parse_emulator_kind("tun");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidArgument);
}

TEST(NetworkNamespace, AMissingOneIsNamedWithItsRemedy) {
  const auto missing = NetworkNamespace::open("pareto-no-such");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, ::testing::HasSubstr("ip netns add pareto-no-such"));
}

}  // namespace
}  // namespace pareto::netem
