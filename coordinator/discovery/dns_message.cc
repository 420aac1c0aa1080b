#include "coordinator/discovery/dns_message.h"

#include <arpa/inet.h>

#include <algorithm>
#include <optional>

#include "core/base/text.h"

namespace pareto::discovery {
namespace {

constexpr std::size_t kMaxNameBytes = 255;  // on the wire
constexpr std::size_t kMaxLabelBytes = 63;
constexpr std::uint16_t kInternet = 1;
// Multicast DNS uses the highest bit of a class for itself: "forget what you knew of this name".
constexpr std::uint16_t kClassMask = 0x7FFF;
constexpr std::uint16_t kResponse = 0x8000;
constexpr unsigned kPointer = 0xC0;

template <typename... Args>
tl::unexpected<Error> corrupt(fmt::format_string<Args...> format, Args&&... args) {
  return fail(ErrorCode::kCorrupt, "DNS message: {}",
              fmt::format(format, std::forward<Args>(args)...));
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

/// Reads forward through a message; a name may refer to what stands before it.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::size_t at() const { return at_; }

  Expected<std::uint8_t> u8() { return byte_at(at_++); }
  Expected<std::uint16_t> u16() {
    PARETO_ASSIGN(const std::uint8_t high, u8());
    PARETO_ASSIGN(const std::uint8_t low, u8());
    return static_cast<std::uint16_t>(high << 8 | low);
  }
  Expected<std::uint32_t> u32() {
    PARETO_ASSIGN(const std::uint16_t high, u16());
    PARETO_ASSIGN(const std::uint16_t low, u16());
    return std::uint32_t{high} << 16 | low;
  }
  Expected<std::span<const std::byte>> take(std::size_t count) {
    if (count > bytes_.size() - std::min(at_, bytes_.size())) return corrupt("it ends too early");
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }

  Expected<DnsName> name() {
    DnsName labels;
    std::size_t total = 1;
    std::size_t at = at_;
    std::size_t lowest = at_;
    std::optional<std::size_t> behind;  // where it goes on after the first reference
    while (true) {
      PARETO_ASSIGN(const std::uint8_t length, byte_at(at));
      if (length == 0) break;
      if ((length & kPointer) == kPointer) {
        PARETO_ASSIGN(const std::uint8_t low, byte_at(at + 1));
        if (!behind) behind = at + 2;
        at = (length & ~kPointer) << 8 | low;
        // Each reference leads further back than all before: there is no loop.
        if (at >= lowest) return corrupt("a name refers to what is not before it");
        lowest = at;
        continue;
      }
      if ((length & kPointer) != 0) return corrupt("a label of an unknown kind");
      total += 1 + std::size_t{length};
      if (total > kMaxNameBytes) return corrupt("a name of more than {} bytes", kMaxNameBytes);
      if (at + 1 + length > bytes_.size()) return corrupt("it ends within a name");
      labels.push_back(text(bytes_.subspan(at + 1, length)));
      at += 1 + std::size_t{length};
    }
    at_ = behind.value_or(at + 1);
    return labels;
  }

  static std::string text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  Expected<std::uint8_t> byte_at(std::size_t index) const {
    if (index >= bytes_.size()) return corrupt("it ends too early");
    return static_cast<std::uint8_t>(bytes_[index]);
  }

  const std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

Expected<DnsAddress> read_address(Reader& reader, int family, std::size_t bytes) {
  PARETO_ASSIGN(const auto address, reader.take(bytes));
  char text[INET6_ADDRSTRLEN] = "";
  ::inet_ntop(family, address.data(), text, sizeof text);
  return DnsAddress{text};
}

Expected<DnsService> read_service(Reader& reader) {
  DnsService service;
  PARETO_ASSIGN(service.priority, reader.u16());
  PARETO_ASSIGN(service.weight, reader.u16());
  PARETO_ASSIGN(service.port, reader.u16());
  PARETO_ASSIGN(service.target, reader.name());
  return service;
}

Expected<DnsText> read_text(Reader& reader, std::size_t end) {
  DnsText text;
  while (reader.at() < end) {
    PARETO_ASSIGN(const std::uint8_t length, reader.u8());
    PARETO_ASSIGN(const auto bytes, reader.take(length));
    text.strings.push_back(Reader::text(bytes));
  }
  return text;
}

/// Reads a record. Returns no value for a kind that nobody here asks for.
Expected<std::optional<DnsRecord>> read_record(Reader& reader) {
  DnsRecord record;
  PARETO_ASSIGN(record.name, reader.name());
  PARETO_ASSIGN(const std::uint16_t type, reader.u16());
  PARETO_ASSIGN(const std::uint16_t family, reader.u16());
  PARETO_ASSIGN(record.ttl_s, reader.u32());
  PARETO_ASSIGN(const std::uint16_t length, reader.u16());
  const std::size_t end = reader.at() + length;
  bool known = (family & kClassMask) == kInternet;
  switch (known ? static_cast<DnsType>(type) : DnsType{}) {
    case DnsType::kA: {
      PARETO_ASSIGN(record.data, read_address(reader, AF_INET, sizeof(in_addr)));
      break;
    }
    case DnsType::kAaaa: {
      PARETO_ASSIGN(record.data, read_address(reader, AF_INET6, sizeof(in6_addr)));
      break;
    }
    case DnsType::kPtr: {
      PARETO_ASSIGN(auto name, reader.name());
      record.data = DnsPointer{std::move(name)};
      break;
    }
    case DnsType::kSrv: {
      PARETO_ASSIGN(record.data, read_service(reader));
      break;
    }
    case DnsType::kTxt: {
      PARETO_ASSIGN(record.data, read_text(reader, end));
      break;
    }
    default:
      known = false;
      PARETO_TRY(reader.take(length));
  }
  if (reader.at() != end) return corrupt("a record is not as long as it says");
  return known ? std::optional(std::move(record)) : std::nullopt;
}

Expected<std::vector<DnsRecord>> read_records(Reader& reader, std::uint16_t count) {
  std::vector<DnsRecord> records;
  for (std::uint16_t i = 0; i < count; ++i) {
    PARETO_ASSIGN(auto record, read_record(reader));
    if (record) records.push_back(*std::move(record));
  }
  return records;
}

void put_u16(std::vector<std::byte>& bytes, std::size_t value) {
  bytes.push_back(static_cast<std::byte>(value >> 8));
  bytes.push_back(static_cast<std::byte>(value));
}

}  // namespace

Expected<DnsName> parse_dns_name(std::string_view text) {
  DnsName labels;
  std::size_t total = 1;
  std::string_view rest = text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
  for (bool last = false; !last;) {
    const std::size_t dot = rest.find('.');
    last = dot == std::string_view::npos;
    labels.emplace_back(rest.substr(0, dot));
    total += 1 + labels.back().size();
    if (labels.back().empty() || labels.back().size() > kMaxLabelBytes || total > kMaxNameBytes) {
      return fail(ErrorCode::kInvalidArgument, "\"{}\" is no name of DNS", text);
    }
    if (!last) rest.remove_prefix(dot + 1);
  }
  return labels;
}

bool same_name(const DnsName& a, const DnsName& b) {
  return std::ranges::equal(a, b, [](const std::string& left, const std::string& right) {
    return std::ranges::equal(left, right, {}, lower, lower);
  });
}

std::vector<std::byte> encode_query(std::uint16_t id, std::span<const DnsQuestion> questions) {
  std::vector<std::byte> bytes;
  put_u16(bytes, id);
  put_u16(bytes, 0);
  put_u16(bytes, questions.size());
  for (int i = 0; i < 3; ++i) put_u16(bytes, 0);
  for (const DnsQuestion& question : questions) {
    for (const std::string& label : question.name) {
      bytes.push_back(static_cast<std::byte>(label.size()));
      const auto text = std::as_bytes(std::span(label));
      bytes.insert(bytes.end(), text.begin(), text.end());
    }
    bytes.push_back(std::byte{0});
    put_u16(bytes, static_cast<std::uint16_t>(question.type));
    put_u16(bytes, kInternet);
  }
  return bytes;
}

Expected<DnsMessage> parse_dns_message(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  DnsMessage message;
  PARETO_ASSIGN(message.id, reader.u16());
  PARETO_ASSIGN(const std::uint16_t flags, reader.u16());
  message.is_response = (flags & kResponse) != 0;
  PARETO_ASSIGN(const std::uint16_t questions, reader.u16());
  PARETO_ASSIGN(const std::uint16_t answers, reader.u16());
  PARETO_ASSIGN(const std::uint16_t authorities, reader.u16());
  PARETO_ASSIGN(const std::uint16_t additional, reader.u16());
  for (std::uint16_t i = 0; i < questions; ++i) {
    PARETO_TRY(reader.name());
    PARETO_TRY(reader.u32());
  }
  PARETO_ASSIGN(message.answers, read_records(reader, answers));
  PARETO_TRY(read_records(reader, authorities));
  PARETO_ASSIGN(message.additional, read_records(reader, additional));
  return message;
}

}  // namespace pareto::discovery
