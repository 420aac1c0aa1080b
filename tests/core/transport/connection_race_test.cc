// A host with several addresses: none of them can keep the others from being tried.
#include "core/transport/connection_race.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>

#include "core/transport/socket.h"

namespace pareto::transport {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

Endpoint endpoint(const std::string& address) {
  const HostPort where = parse_host_port(address).value();
  Endpoint one;
  if (where.host.find(':') == std::string::npos) {
    sockaddr_in ipv4{};
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(where.port);
    ::inet_pton(AF_INET, where.host.c_str(), &ipv4.sin_addr);
    std::memcpy(&one.address, &ipv4, sizeof ipv4);
    one.size = sizeof ipv4;
  } else {
    sockaddr_in6 ipv6{};
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(where.port);
    ::inet_pton(AF_INET6, where.host.c_str(), &ipv6.sin6_addr);
    std::memcpy(&one.address, &ipv6, sizeof ipv6);
    one.size = sizeof ipv6;
  }
  return one;
}

/// Somebody listens there.
class Answering {
 public:
  std::string address() const { return local_address(socket_); }

 private:
  FileDescriptor socket_ = open_listener({"127.0.0.1", 0}).value();
};

/// An address that swallows packets: a listener that accepts nobody, its queue full.
class Swallowing {
 public:
  Swallowing() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
    EXPECT_EQ(::listen(socket_.get(), 0), 0);
    const Endpoint there = endpoint(address());
    for (int i = 0; i < 4; ++i) {
      FileDescriptor& waiting = waiting_.emplace_back(
          FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)));
      static_cast<void>(
          ::connect(waiting.get(), reinterpret_cast<const sockaddr*>(&there.address), there.size));
    }
  }
  std::string address() const { return local_address(socket_); }

 private:
  FileDescriptor socket_;
  std::vector<FileDescriptor> waiting_;
};

/// Returns an address of this machine at which nobody listens.
std::string refusing() { return Answering().address(); }

Deadline in(milliseconds time) { return deadline_after(time); }

TEST(ConnectionRace, TheFirstThatAnswersIsTaken) {
  const Answering one;
  const Answering other;
  const auto socket = connect_to_first({endpoint(one.address()), endpoint(other.address())}, "pi:1",
                                       in(seconds(30)));
  ASSERT_TRUE(socket) << socket.error().message;
  EXPECT_EQ(remote_address(*socket), one.address());
}

TEST(ConnectionRace, AnAddressThatRefusesGivesWayAtOnce) {
  const Answering answering;
  // The next attempt would start long after the deadline.
  const auto socket = connect_to_first({endpoint(refusing()), endpoint(answering.address())},
                                       "pi:1", in(seconds(30)), std::chrono::hours(1));
  ASSERT_TRUE(socket) << socket.error().message;
  EXPECT_EQ(remote_address(*socket), answering.address());
}

TEST(ConnectionRace, AnAddressThatSwallowsPacketsDoesNotTakeTheDeadline) {
  const Swallowing swallowing;
  const Answering answering;
  const auto socket =
      connect_to_first({endpoint(swallowing.address()), endpoint(answering.address())}, "pi:1",
                       in(seconds(60)), milliseconds(20));
  ASSERT_TRUE(socket) << socket.error().message;
  EXPECT_EQ(remote_address(*socket), answering.address());
}

TEST(ConnectionRace, ErrorsNameEachAddressThatWasTried) {
  const Swallowing swallowing;
  const std::string refused = refusing();
  const auto silent = connect_to_first({endpoint(swallowing.address()), endpoint(refused)}, "pi:1",
                                       in(milliseconds(100)), milliseconds(10));
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().code, ErrorCode::kTimeout);
  EXPECT_THAT(silent.error().message, AllOf(HasSubstr("pi:1 did not answer in time"),
                                            HasSubstr(swallowing.address() + ": no answer"),
                                            HasSubstr(refused + ": nobody listens")));
  const std::string also_refused = refusing();
  const auto nobody =
      connect_to_first({endpoint(refused), endpoint(also_refused)}, "pi:1", in(seconds(30)));
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(nobody.error().message, AllOf(HasSubstr("nobody listens on pi:1"), HasSubstr(refused),
                                            HasSubstr(also_refused)));
}

TEST(ConnectionRace, AnErrorOfOneAddressThatWasAskedForSaysItOnce) {
  const std::string refused = refusing();
  EXPECT_EQ(connect_to_first({endpoint(refused)}, refused, in(seconds(30))).error().message,
            "nobody listens on " + refused);
  const Swallowing swallowing;
  EXPECT_EQ(
      connect_to_first({endpoint(swallowing.address())}, swallowing.address(), in(milliseconds(30)))
          .error()
          .message,
      swallowing.address() + " did not answer in time");
  EXPECT_FALSE(connect_to_first({}, "pi:1", in(seconds(30))));
}

TEST(ConnectionRace, FamiliesTakeTurns) {
  std::vector<std::string> order;
  for (const Endpoint& one :
       in_turns({endpoint("[fd00::1]:1"), endpoint("[fd00::2]:1"), endpoint("[fd00::3]:1"),
                 endpoint("10.0.0.1:1"), endpoint("10.0.0.2:1")})) {
    order.push_back(to_string(one));
  }
  EXPECT_THAT(order, testing::ElementsAre("[fd00::1]:1", "10.0.0.1:1", "[fd00::2]:1", "10.0.0.2:1",
                                          "[fd00::3]:1"));
}

TEST(PickAddress, OfAHostWithOneAddressIsWhatWasAskedFor) {
  const HostPort asked{"127.0.0.1", 1};
  const auto picked = pick_address(asked, in(seconds(30)));
  ASSERT_TRUE(picked) << picked.error().message;
  EXPECT_EQ(to_string(*picked), "127.0.0.1:1");
}

TEST(PickAddress, OfAnUnknownHostIsLeftToWhoeverDials) {
  const auto picked = pick_address({"no-such-host.invalid", 7070}, in(seconds(30)));
  ASSERT_TRUE(picked);
  EXPECT_EQ(picked->host, "no-such-host.invalid");
}

}  // namespace
}  // namespace pareto::transport
