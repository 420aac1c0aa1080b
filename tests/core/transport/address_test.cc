#include "core/transport/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::transport {
namespace {

using testing::HasSubstr;

TEST(Address, IsAHostAndAPort) {
  for (const char* text : {"127.0.0.1:7071", "localhost:7071", "pi-1.local:0", "my_host:65535",
                           "[::1]:7071", "[fe80::1%eth0]:7071"}) {
    const auto address = parse_host_port(text);
    ASSERT_TRUE(address) << address.error().message;
    EXPECT_EQ(to_string(*address), text);
  }
}

TEST(Address, ASlipIsNamed) {
  const auto problem = [](std::string_view text) {
    const auto address = parse_host_port(text);
    return address ? "" : address.error().message;
  };
  EXPECT_THAT(problem("::1:7070"), HasSubstr("an IPv6 address goes into brackets"));
  EXPECT_THAT(problem("pi-1"), HasSubstr("it has no port"));
  EXPECT_THAT(problem("[::1]"), HasSubstr("\"[::1]\" is no address (it has no port)"));
  EXPECT_THAT(problem("17070"), HasSubstr("it has no host, as in 0.0.0.0:7070"));
  EXPECT_THAT(problem(":7070"), HasSubstr("it has no host"));
  EXPECT_THAT(problem("http://pi-1:7070"), HasSubstr("no scheme such as http://"));
  EXPECT_THAT(problem("[pi-1]:7070"), HasSubstr("brackets are for IPv6"));
  EXPECT_THAT(problem("[::zz]:7070"), HasSubstr("no IPv6 address is that"));
  EXPECT_THAT(problem("1.2.3.444:7070"), HasSubstr("no IPv4 address is that"));
  for (const char* text : {" pi-1:7070", "pi 1:7070", "\tpi-1:7070", "pi-1/x:7070", "a,b:7070"}) {
    EXPECT_THAT(problem(text), HasSubstr("no host is called so")) << text;
  }
  for (const char* text : {"pi-1:99999", "pi-1:", "pi-1:7x", "pi-1:-1", "pi-1:70 ", "pi-1: 70"}) {
    EXPECT_THAT(problem(text), HasSubstr("a port is a number from 0 to 65535")) << text;
  }
}

}  // namespace
}  // namespace pareto::transport
