// One connection to a host that has several addresses: attempts start a quarter of a second apart,
// the first to succeed stays (RFC 8305, "Happy Eyeballs"). An address that swallows packets costs
// that quarter, not the whole deadline. Private to core/transport.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto::transport {

/// The target of one attempt.
struct Endpoint {
  sockaddr_storage address{};
  socklen_t size = 0;
};

/// Returns "10.0.0.1:7071", "[fe80::1]:7071"; "?" if the system cannot say.
std::string to_string(const Endpoint& endpoint);

/// Returns the order of attempts: as given, but IPv6 and IPv4 take turns, whichever is first.
std::vector<Endpoint> in_turns(std::vector<Endpoint> endpoints);

inline constexpr std::chrono::milliseconds kBetweenAttempts{250};
/// The time after which addresses that swallow packets are tried once more, one of them at a time:
/// a network that is back after a cut answers the next attempt. The kernel by itself repeats one
/// after 1, 3 and 7 s.
inline constexpr std::chrono::milliseconds kFreshAttempt{500};

/// Connects to the first of `endpoints` that answers; the connection does not block. The next
/// attempt starts after `apart`, or as soon as no other is under way. Once all are under way, a
/// fresh one starts every kFreshAttempt in place of the last fresh one. `asked` is what a person
/// wrote for all of them. Errors name it. If there is more to say, they list each address that was
/// tried and its result.
/// Fails: kUnavailable, kTimeout (an address did not answer until the deadline), kExhausted.
Expected<FileDescriptor> connect_to_first(const std::vector<Endpoint>& endpoints,
                                          const std::string& asked, Deadline deadline,
                                          Nanoseconds apart = kBetweenAttempts);

}  // namespace pareto::transport
