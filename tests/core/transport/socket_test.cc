// What the kernel is asked to do for a connection.
#include "core/transport/socket.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace pareto::transport {
namespace {

int option(const FileDescriptor& socket, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(socket.get(), level, name, &value, &size), 0);
  return value;
}

TEST(Socket, ALinkNoticesWithinSecondsThatItsPeerIsGone) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  tune_connection(socket);
  EXPECT_EQ(option(socket, SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_LE(
      option(socket, IPPROTO_TCP, TCP_KEEPIDLE) +
          option(socket, IPPROTO_TCP, TCP_KEEPINTVL) * option(socket, IPPROTO_TCP, TCP_KEEPCNT),
      10);
  EXPECT_GE(option(socket, IPPROTO_TCP, TCP_KEEPCNT), 8) << "packets are lost on bad networks";
  EXPECT_EQ(option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT), 0)
      << "a peer that computes for long and does not read is there";
}

}  // namespace
}  // namespace pareto::transport
