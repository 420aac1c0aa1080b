#include "daemon/announcement.h"

#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>

#include "core/transport/address.h"

namespace pareto::daemon {
namespace {

TEST(AnnouncedService, IsWhatOthersCanReach) {
  for (const char* address : {"0.0.0.0:7070", "[::]:7070", "*:7070", "pi-1:7070"}) {
    const auto service = announced_service("pi-1", address);
    ASSERT_TRUE(service) << address;
    EXPECT_EQ(service->name, "pi-1");
    EXPECT_EQ(service->port, 7070);
    EXPECT_EQ(service->interface, "") << address;
  }
  for (const char* address :
       {"127.0.0.1:7070", "localhost:7070", "[::1]:7070", "unix:/run/paretod", "unix:80"}) {
    EXPECT_FALSE(announced_service("pi-1", address)) << address;
  }
}

TEST(AnnouncedService, IsOfTheInterfaceThatHasTheAddress) {
  ifaddrs* list = nullptr;
  ASSERT_EQ(::getifaddrs(&list), 0);
  bool tried = false;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET ||
        (one->ifa_flags & IFF_LOOPBACK) != 0) {
      continue;
    }
    char host[NI_MAXHOST] = "";
    ASSERT_EQ(::getnameinfo(one->ifa_addr, sizeof(sockaddr_in), host, sizeof host, nullptr, 0,
                            NI_NUMERICHOST),
              0);
    const auto service = announced_service("pi-1", transport::to_string({host, 7070}));
    ASSERT_TRUE(service) << host;
    EXPECT_EQ(service->interface, one->ifa_name);
    tried = true;
  }
  ::freeifaddrs(list);
  if (!tried) GTEST_SKIP() << "this machine has loopback alone";
}

}  // namespace
}  // namespace pareto::daemon
