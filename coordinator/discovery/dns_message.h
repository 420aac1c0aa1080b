// DNS messages (RFC 1035), as multicast DNS and look-ups of services use them: questions are
// written, answers are read. What comes from a network may be anything: it is read within its
// bounds or refused whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/error.h"

namespace pareto::discovery {

/// The labels of a name, without the root's. Each has 1 to 63 bytes, of any value: those that
/// people give to services hold spaces, dots and letters of all languages.
using DnsName = std::vector<std::string>;

/// Parses "_pareto-edge._tcp.local"; a dot at the end changes nothing. Fails: kInvalidArgument (a
/// label is empty or too long, or all are together).
Expected<DnsName> parse_dns_name(std::string_view text);
/// Names are the same whatever the case of their ASCII letters.
bool same_name(const DnsName& a, const DnsName& b);

enum class DnsType : std::uint16_t { kA = 1, kPtr = 12, kTxt = 16, kAaaa = 28, kSrv = 33 };

struct DnsQuestion {
  DnsName name;
  DnsType type = DnsType::kPtr;
};

/// The address of an A or AAAA record: "192.168.1.21", "2001:db8::1".
struct DnsAddress {
  std::string text;
};
struct DnsPointer {
  DnsName name;
};
struct DnsService {
  std::uint16_t priority = 0;
  std::uint16_t weight = 0;
  std::uint16_t port = 0;
  DnsName target;  ///< empty: there is no such service, on purpose
};
struct DnsText {
  std::vector<std::string> strings;  ///< strings of any bytes
};

struct DnsRecord {
  DnsName name;
  std::uint32_t ttl_s = 0;
  std::variant<DnsAddress, DnsPointer, DnsService, DnsText> data;
};

/// Records of other types and classes than the Internet's are left out; so is what says who has
/// authority.
struct DnsMessage {
  std::uint16_t id = 0;
  bool is_response = false;
  std::vector<DnsRecord> answers;
  std::vector<DnsRecord> additional;
};

/// Returns a query for the Internet's records, not for recursion. The names are such as
/// parse_dns_name() and parse_dns_message() return.
std::vector<std::byte> encode_query(std::uint16_t id, std::span<const DnsQuestion> questions);

/// Reads a message that any host may have sent. Fails: kCorrupt. Memory that it takes is bounded by
/// the message's size.
Expected<DnsMessage> parse_dns_message(std::span<const std::byte> bytes);

}  // namespace pareto::discovery
