// "HOST:PORT" as people and plans write it. For those who open sockets: core/transport and
// core/metrics.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace pareto::transport {

struct HostPort {
  std::string host;  ///< a name or a numeric address, without brackets
  std::uint16_t port = 0;
};

/// Parses "127.0.0.1:7071", "localhost:7071", "[::1]:7071". Fails: kInvalidArgument.
Expected<HostPort> parse_host_port(std::string_view text);
/// Writes the address as text: brackets around a host with colons in it.
std::string to_string(const HostPort& address);
/// Begins the address of a Unix socket: "unix:/run/paretod.socket".
inline constexpr std::string_view kUnixScheme = "unix:";
/// Returns whether an address is that of a Unix socket.
inline bool is_unix(std::string_view address) { return address.starts_with(kUnixScheme); }
/// Returns whether an address, "HOST:PORT", is one of the loopback interface. Others of this
/// machine's are not known.
bool is_loopback(std::string_view address);
/// Returns whether an address is "HOST:PORT" and not one of the loopback interface: those of a
/// network come there.
bool is_of_network(std::string_view address);
/// Returns "10.0.0.1" of "10.0.0.1:4711", with the brackets of IPv6; a text without a port as it
/// is.
std::string host_of(const std::string& address);

}  // namespace pareto::transport
