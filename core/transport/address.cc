#include "core/transport/address.h"

#include <charconv>

namespace pareto::transport {
namespace {

tl::unexpected<Error> no_address(std::string_view text, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument,
              "\"{}\" is no address ({}): write HOST:PORT, as in 127.0.0.1:7071 or [::1]:7071",
              text, why);
}

}  // namespace

Expected<HostPort> parse_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return no_address(text, "it has no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    if (host.find(':') == std::string_view::npos) {
      return no_address(text, "brackets are for IPv6");
    }
  } else if (host.find(':') != std::string_view::npos) {
    return no_address(text, "an IPv6 address goes into brackets");
  }
  if (host.empty()) return no_address(text, "it has no host");
  if (host.find_first_of("[]/ \t\n") != std::string_view::npos ||
      host.find('\0') != std::string_view::npos) {
    return no_address(text, "no host is called so");
  }
  HostPort address{std::string(host), 0};
  const auto [end, error] =
      std::from_chars(port.data(), port.data() + port.size(), address.port, 10);
  if (port.empty() || error != std::errc{} || end != port.data() + port.size()) {
    return no_address(text, "a port is a number from 0 to 65535");
  }
  return address;
}

std::string to_string(const HostPort& address) {
  const bool ipv6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", ipv6 ? "[" : "", address.host, ipv6 ? "]" : "", address.port);
}

bool is_loopback(std::string_view address) {
  const auto parsed = parse_host_port(address);
  if (!parsed) return false;
  return parsed->host == "localhost" || parsed->host == "::1" || parsed->host.starts_with("127.");
}

}  // namespace pareto::transport
