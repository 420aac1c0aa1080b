#include "core/transport/site.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>

#include "core/transport/address.h"

namespace pareto::transport {

std::string site_of(const std::string& address) {
  // Behind a transport's name, and without the brackets of IPv6.
  std::string host = host_of(address.substr(address.rfind(' ') + 1));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  in6_addr number{};
  if (::inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &number) != 1) return host;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IN6_IS_ADDR_V4MAPPED(&number)) {
    constexpr std::size_t kPrefix = 12;
    ::inet_ntop(AF_INET, &number.s6_addr[kPrefix], text.data(), text.size());
    return text.data();
  }
  if (IN6_IS_ADDR_LOOPBACK(&number)) return host;
  std::fill(std::begin(number.s6_addr) + 8, std::end(number.s6_addr), 0);
  ::inet_ntop(AF_INET6, &number, text.data(), text.size());
  return std::string(text.data()) + "/64";
}

}  // namespace pareto::transport
