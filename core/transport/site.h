// Where a peer is, as strangers are counted: who has one address of a network of IPv6 has them all.
#pragma once

#include <string>

namespace pareto::transport {

/// Returns the host of an address or, of IPv6, its network of 64 bits: "10.0.0.1" of
/// "tcp 10.0.0.1:4711" and of "[::ffff:10.0.0.1]:4711", "2001:db8:0:7::/64" of
/// "[2001:db8:0:7::9]:4711". What is no address stays as it is.
std::string site_of(const std::string& address);

}  // namespace pareto::transport
