// What every transport promises of addresses, listeners and strangers.
#include <dirent.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/transport/socket.h"
#include "tests/core/transport/conformance_suite.h"

namespace pareto::transport {
namespace {

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
  const auto link = dial(address);
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
  // It may still become one of this machine's.
  EXPECT_EQ(code_of(transport_->listen("192.0.2.1:0", {})), ErrorCode::kUnavailable);
}

TEST_P(Conformance, SpeaksIpv6) {
  if (!is_network()) GTEST_SKIP() << "has no addresses";
  const auto listener = transport_->listen("[::1]:0", accepting());
  if (!listener) GTEST_SKIP() << "no IPv6 here: " << listener.error().message;
  EXPECT_TRUE((*listener)->address().starts_with("[::1]:")) << (*listener)->address();
  const Pair links = connect(**listener);
  ASSERT_TRUE(links.client->send(message_of(1, 10), soon()));
  ASSERT_TRUE(links.server->receive(soon()));
  EXPECT_NE(links.server->peer().find("[::1]:"), std::string::npos) << links.server->peer();
}

TEST_P(Conformance, PeersAreNamed) {
  const Pair links = pair();
  const std::string expected = GetParam().transport + (is_network() ? " 127.0.0.1:" : " ");
  EXPECT_TRUE(links.client->peer().starts_with(expected)) << links.client->peer();
  EXPECT_TRUE(links.server->peer().starts_with(expected)) << links.server->peer();
}

TEST_P(Conformance, OnlyWhatSomebodyVouchesForIsAuthenticated) {
  const Pair links = pair();
  for (const Link* link : {links.client.get(), links.server.get()}) {
    const PeerIdentity peer = link->identity();
    if (GetParam().secured) {
      const bool client = link == links.client.get();
      EXPECT_TRUE(peer.authenticated);
      EXPECT_EQ(to_string(peer), client ? "device pi-1" : "coordinator lab");
      const tls::Identity named{client ? "pi-1" : "lab",
                                client ? tls::Role::kDevice : tls::Role::kCoordinator};
      EXPECT_EQ(peer.certificate, named);
      continue;
    }
    EXPECT_FALSE(peer.certificate);
    if (is_network()) {
      EXPECT_FALSE(peer.authenticated) << "nobody has shown a certificate";
      EXPECT_EQ(GetParam().transport + " " + peer.name, link->peer());
      EXPECT_EQ(to_string(peer), peer.name + " (not authenticated)");
      continue;
    }
    const bool one_process = transport_->reach() == Reach::kProcess;
    EXPECT_TRUE(peer.authenticated);
    EXPECT_EQ(to_string(peer), one_process
                                   ? "this process"
                                   : "user " + std::to_string(::geteuid()) + " of this machine");
  }
}

TEST_P(Conformance, AcceptedLinksOutliveTheirListener) {
  auto listener = listen();
  const std::string address = listener->address();
  Pair links = connect(*listener);
  listener->close();
  EXPECT_EQ(code_of(dial(address)), ErrorCode::kUnavailable);
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

  Async sending([&] {
    const auto client = must(dial(listener->address()));
    EXPECT_TRUE(client->send(message_of(42, 10), soon()));
    return must(client->receive(soon())).message.request;
  });
  // A transport without a handshake hands the strangers out as links: those fail, and only they.
  while (true) {
    const auto link = must(listener->accept(soon()));
    const auto received = link->receive(soon());
    if (received) {
      EXPECT_EQ(received->message.request, 42U);
      // The peer may hang up before this side knows that it was sent.
      static_cast<void>(link->send(message_of(43, 10), soon()));
      EXPECT_EQ(sending.get(), 43U);
      break;
    }
    const ErrorCode code = received.error().code;
    const bool refused = code == ErrorCode::kCorrupt || code == ErrorCode::kPermission;
    EXPECT_TRUE(refused || code == ErrorCode::kUnavailable) << received.error().message;
    if (!refused) continue;
    EXPECT_EQ(code_of(link->receive(soon())), ErrorCode::kClosed);
  }
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

}  // namespace
}  // namespace pareto::transport
