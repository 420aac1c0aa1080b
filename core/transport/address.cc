#include "core/transport/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace pareto::transport {
namespace {

constexpr std::string_view kNeverInHosts = "[]/@,;\"'";

tl::unexpected<Error> no_address(std::string_view text, std::string_view why) {
  return fail(ErrorCode::kInvalidArgument,
              "\"{}\" is no address ({}): write HOST:PORT, as in 127.0.0.1:7071 or [::1]:7071",
              text, why);
}

/// Returns what is wrong with a host that stood between brackets; empty: nothing.
std::string_view problem_in_brackets(std::string_view host) {
  if (host.find(':') == std::string_view::npos) return "brackets are for IPv6";
  // A zone, "%eth0", names an interface of this machine.
  in6_addr ignored{};
  const std::string number(host.substr(0, host.find('%')));
  return ::inet_pton(AF_INET6, number.c_str(), &ignored) == 1 ? "" : "no IPv6 address is that";
}

/// Returns what is wrong with a host without brackets; empty: nothing.
std::string_view problem_of_name(std::string_view host) {
  if (host.empty()) return "it has no host";
  const bool odd = std::ranges::any_of(host, [](unsigned char letter) {
    return letter <= ' ' || letter == 0x7f ||
           kNeverInHosts.find(static_cast<char>(letter)) != std::string_view::npos;
  });
  if (odd) return "no host is called so";
  if (host.find_first_not_of("0123456789.") != std::string_view::npos) return "";
  in_addr ignored{};
  return ::inet_aton(std::string(host).c_str(), &ignored) != 0 ? "" : "no IPv4 address is that";
}

}  // namespace

Expected<HostPort> parse_host_port(std::string_view text) {
  if (text.find("://") != std::string_view::npos) {
    return no_address(text, "an address has no scheme such as http://");
  }
  // A colon within brackets is the host's.
  const std::size_t colon = text.ends_with(']') ? std::string_view::npos : text.rfind(':');
  if (colon == std::string_view::npos) {
    const bool is_number =
        !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    return no_address(text, is_number ? "it has no host, as in 0.0.0.0:7070" : "it has no port");
  }
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  std::string_view problem;
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    problem = problem_in_brackets(host);
  } else if (host.find(':') != std::string_view::npos) {
    problem = "an IPv6 address goes into brackets";
  } else {
    problem = problem_of_name(host);
  }
  if (!problem.empty()) return no_address(text, problem);
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

bool is_of_network(std::string_view address) {
  return parse_host_port(address).has_value() && !is_loopback(address);
}

std::string host_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

}  // namespace pareto::transport
