#include "core/transport/open_connections.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "core/base/file_descriptor.h"
#include "core/transport/site.h"

namespace pareto::transport {
namespace {

FileDescriptor some_socket() { return FileDescriptor(::socket(AF_INET, SOCK_STREAM, 0)); }

TEST(OpenConnections, AreCountedForEachSiteUntilTheyAreClosed) {
  OpenConnections open(2);
  std::vector<FileDescriptor> own;
  for (int i = 0; i < 4; ++i) own.push_back(some_socket());
  EXPECT_TRUE(open.add("a", own[0].get()));
  EXPECT_TRUE(open.add("a", own[1].get()));
  EXPECT_FALSE(open.add("a", own[2].get()));
  EXPECT_TRUE(open.add("b", own[2].get()));
  // Its number is given to another socket, which is not the one that was counted.
  const int number = own[0].get();
  own[0].reset();
  own[0] = some_socket();
  ASSERT_EQ(own[0].get(), number);
  EXPECT_TRUE(open.add("a", own[3].get()));
  EXPECT_FALSE(open.add("a", own[0].get()));
}

TEST(OpenConnections, MakeRoomAtTheSiteWithTheMost) {
  OpenConnections open(8);
  struct Pair {
    FileDescriptor kept;
    FileDescriptor peer;
  };
  std::vector<Pair> pairs;
  const auto add = [&](const std::string& site) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    pairs.push_back({FileDescriptor(ends[0]), FileDescriptor(ends[1])});
    EXPECT_TRUE(open.add(site, ends[0]));
  };
  const auto is_ended = [](const Pair& pair) {
    char byte = 0;
    return ::recv(pair.peer.get(), &byte, 1, 0) == 0;
  };
  add("few");
  for (int i = 0; i < 3; ++i) add("many");
  EXPECT_TRUE(open.make_room("new"));
  EXPECT_TRUE(is_ended(pairs[1])) << "the oldest of the most";
  EXPECT_FALSE(is_ended(pairs[0]));
  EXPECT_FALSE(is_ended(pairs[2]));
  EXPECT_FALSE(open.make_room("few")) << "it would have as many";
  EXPECT_FALSE(open.make_room("many"));
  EXPECT_TRUE(open.make_room("new"));
  EXPECT_TRUE(is_ended(pairs[2]));
  EXPECT_FALSE(open.make_room("new")) << "each has one";
}

TEST(OpenConnections, ManySitesThatCameAndWentTakeNoPlace) {
  OpenConnections open(1);
  for (int i = 0; i < 10'000; ++i) {
    const FileDescriptor socket = some_socket();
    EXPECT_TRUE(open.add("site " + std::to_string(i % 5000), socket.get()));
  }
}

TEST(Site, IsAHostOrANetworkOfIpv6) {
  EXPECT_EQ(site_of("10.0.0.1:4711"), "10.0.0.1");
  EXPECT_EQ(site_of("tcp 10.0.0.1:4711"), "10.0.0.1");
  EXPECT_EQ(site_of("[::ffff:10.0.0.1]:4711"), "10.0.0.1");
  EXPECT_EQ(site_of("[2001:db8:0:7:1:2:3:4]:4711"), "2001:db8:0:7::/64");
  EXPECT_EQ(site_of("[2001:db8:0:7::9]:80"), site_of("[2001:db8:0:7:ffff::]:81"));
  EXPECT_NE(site_of("[2001:db8:0:8::9]:80"), site_of("[2001:db8:0:7::9]:80"));
  EXPECT_EQ(site_of("[::1]:80"), "::1");
  EXPECT_EQ(site_of("unix"), "unix");
}

}  // namespace
}  // namespace pareto::transport
