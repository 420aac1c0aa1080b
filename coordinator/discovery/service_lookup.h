// "srv:_pareto-edge._tcp.example.org" where HOST:PORT would stand: the hosts that DNS names for a
// service (SRV records, RFC 2782), of which the first that answers is taken.
#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/discovery/dns_message.h"
#include "core/base/error.h"

namespace pareto::discovery {

inline constexpr std::string_view kServiceScheme = "srv:";

/// Checks an address that begins with kServiceScheme. Fails: kInvalidArgument (no name of a
/// service, as in the example above).
Expected<> check_service_address(std::string_view address);

/// Asks the resolver that this machine is set up with, which may take some seconds. Returns
/// HOST:PORT in the order in which they are to be tried, at least one. Fails: kInvalidArgument,
/// kNotFound (no such service), kUnavailable (no server answers), kCorrupt.
Expected<std::vector<std::string>> find_service(const std::string& address);

/// Returns the addresses in a server's answer. Fails: kNotFound (it names no host, or says that
/// there is no service), kCorrupt.
Expected<std::vector<std::string>> read_service_answer(std::span<const std::byte> answer,
                                                       std::mt19937_64& random);

/// Returns all services once, the lowest priority first. Those of one priority are in random order
/// by weight.
std::vector<DnsService> in_order_of_trial(std::vector<DnsService> services,
                                          std::mt19937_64& random);

}  // namespace pareto::discovery
