#include "coordinator/enrolment/own_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/base/file_descriptor.h"

namespace pareto::enrolment {
namespace {

std::string numeric_text(const sockaddr* address, socklen_t size) {
  std::array<char, NI_MAXHOST> text{};
  const int status =
      ::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST);
  return status == 0 ? text.data() : std::string();
}

/// Returns the address from which packets to the internet would leave; "" if there is no way.
std::string outward_address() {
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in elsewhere{};
  elsewhere.sin_family = AF_INET;
  elsewhere.sin_port = htons(9);
  ::inet_pton(AF_INET, "192.0.2.1", &elsewhere.sin_addr);  // of documentation, nobody's
  sockaddr_in own{};
  socklen_t size = sizeof own;
  const bool found =
      socket &&
      ::connect(socket.get(), reinterpret_cast<sockaddr*>(&elsewhere), sizeof elsewhere) == 0 &&
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) == 0;
  return found ? numeric_text(reinterpret_cast<sockaddr*>(&own), size) : "";
}

/// Returns the size of an address that others can use; 0 if it is none.
socklen_t usable_size(const sockaddr* address) {
  if (address == nullptr) return 0;
  if (address->sa_family == AF_INET) return sizeof(sockaddr_in);
  if (address->sa_family != AF_INET6) return 0;
  const auto* const six = reinterpret_cast<const sockaddr_in6*>(address);
  return IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) ? 0 : sizeof(sockaddr_in6);
}

}  // namespace

std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses;
  const auto add = [&](std::string address) {
    if (address.empty() || std::ranges::find(addresses, address) != addresses.end()) return;
    addresses.push_back(std::move(address));
  };
  add(outward_address());
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return addresses;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(all, ::freeifaddrs);
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
      const socklen_t size = usable_size(one->ifa_addr);
      if (size == 0 || one->ifa_addr->sa_family != family) continue;
      if ((one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) continue;
      add(numeric_text(one->ifa_addr, size));
    }
  }
  return addresses;
}

}  // namespace pareto::enrolment
