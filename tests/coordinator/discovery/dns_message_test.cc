#include "coordinator/discovery/dns_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/coordinator/discovery/dns_bytes.h"

namespace pareto::discovery {
namespace {

using test::DnsBytes;
using testing::ElementsAre;
using testing::HasSubstr;

const DnsName kService{"_pareto-edge", "_tcp", "local"};
const DnsName kInstance{"pi 1. Küche", "_pareto-edge", "_tcp", "local"};
const DnsName kHost{"pi-1", "local"};

/// Returns every kind of record, with names that refer to others, as responders write them.
std::vector<std::byte> whole_answer() {
  DnsBytes bytes;
  bytes.answer(kService, DnsType::kPtr);
  const auto instance = static_cast<unsigned>(bytes.size());
  bytes.text(kInstance[0]).at(12);
  bytes.more(kInstance, DnsType::kSrv).u16(0).u16(0).u16(7070);
  const auto host = static_cast<unsigned>(bytes.size());
  bytes.text("pi-1").at(12 + 13 + 5);
  bytes.more(kInstance, DnsType::kTxt).text("version=0.1.0").text("").text("name=pi-1");
  bytes.more(kHost, DnsType::kA).ipv4({192, 168, 1, 21});
  bytes.more(kHost, DnsType::kAaaa).ipv6({0x2001, 0xdb8, 0, 0, 0, 0, 0, 1});
  bytes.more({}, DnsType{41}).u16(0xFFFF);
  bytes.more({"again"}, DnsType::kPtr).at(instance);
  bytes.more({"again"}, DnsType::kPtr).at(host);
  return bytes.bytes();
}

template <typename T>
const T& data(const DnsRecord& record) {
  return std::get<T>(record.data);
}

std::string problem(DnsBytes bytes) {
  const auto message = parse_dns_message(bytes.bytes());
  EXPECT_FALSE(message);
  if (message) return "";
  EXPECT_EQ(message.error().code, ErrorCode::kCorrupt);
  return message.error().message;
}

TEST(DnsMessage, AQueryIsTheseBytes) {
  const std::vector<DnsQuestion> questions{{{"_a", "local"}, DnsType::kPtr},
                                           {{"b"}, DnsType::kSrv}};
  const std::string expected(
      "\x12\x34\0\0\0\2\0\0\0\0\0\0"
      "\2_a\5local\0\0\x0c\0\1"
      "\1b\0\0\x21\0\1",
      12 + 14 + 7);
  const auto bytes = encode_query(0x1234, questions);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), expected);
  // And may be read: as a message without answers.
  EXPECT_FALSE(parse_dns_message(bytes)->is_response);
}

TEST(DnsMessage, AnAnswerIsReadWhole) {
  const auto message = parse_dns_message(whole_answer());
  ASSERT_TRUE(message) << message.error().message;
  EXPECT_EQ(message->id, 7);
  EXPECT_TRUE(message->is_response);
  ASSERT_EQ(message->answers.size(), 1U);
  EXPECT_EQ(message->answers[0].name, kService);
  EXPECT_EQ(message->answers[0].ttl_s, 120U);
  EXPECT_EQ(data<DnsPointer>(message->answers[0]).name, kInstance);
  const auto& more = message->additional;
  ASSERT_EQ(more.size(), 6U) << "unknown types are left out";
  const auto& service = data<DnsService>(more[0]);
  EXPECT_EQ(more[0].name, kInstance);
  EXPECT_EQ(service.port, 7070);
  EXPECT_EQ(service.target, kHost);
  EXPECT_THAT(data<DnsText>(more[1]).strings, ElementsAre("version=0.1.0", "", "name=pi-1"));
  EXPECT_EQ(data<DnsAddress>(more[2]).text, "192.168.1.21");
  EXPECT_EQ(data<DnsAddress>(more[3]).text, "2001:db8::1");
  EXPECT_EQ(data<DnsPointer>(more[4]).name, kInstance) << "by a reference to a reference";
  EXPECT_EQ(data<DnsPointer>(more[5]).name, kHost);
}

TEST(DnsMessage, NamesMayNotGoInCircles) {
  const unsigned at = 12 + 1 + 10;  // of the data of a record whose owner is the root
  EXPECT_THAT(problem(DnsBytes().answer({}, DnsType::kPtr).at(at)), HasSubstr("before it"));
  EXPECT_THAT(problem(DnsBytes().answer({}, DnsType::kPtr).text("a").at(at)),
              HasSubstr("before it"));
  EXPECT_THAT(problem(DnsBytes().answer({}, DnsType::kPtr).at(at + 2).name({"later"})),
              HasSubstr("before it"));
}

TEST(DnsMessage, NamesHaveALimit) {
  const std::string label(63, 'x');
  DnsBytes bytes;
  bytes.answer({}, DnsType::kPtr).name({label, label, label, std::string(61, 'x')});
  EXPECT_EQ(data<DnsPointer>(bytes.message().answers[0]).name.size(), 4U) << "255 bytes";
  EXPECT_THAT(
      problem(
          DnsBytes().answer({}, DnsType::kPtr).name({label, label, label, std::string(62, 'x')})),
      HasSubstr("255"));
  EXPECT_THAT(problem(DnsBytes().answer({}, DnsType::kPtr).u8(0x40).u8(0)),
              HasSubstr("unknown kind"));
}

TEST(DnsMessage, DataIsAsLongAsItSays) {
  EXPECT_THAT(problem(DnsBytes().answer({"a"}, DnsType::kA).ipv4({1, 2, 3, 4}).u8(5)),
              HasSubstr("as long"));
  EXPECT_THAT(problem(DnsBytes().answer({"a"}, DnsType::kA).u8(1)), HasSubstr("too early"));
  EXPECT_THAT(problem(DnsBytes().answer({"a"}, DnsType::kTxt).u8(9).u8('a')),
              HasSubstr("too early"));
  // The string would reach into the next record.
  EXPECT_THAT(problem(DnsBytes()
                          .answer({"a"}, DnsType::kTxt)
                          .u8(3)
                          .answer({"bcd"}, DnsType::kA)
                          .ipv4({1, 2, 3, 4})),
              HasSubstr("as long"));
}

TEST(DnsMessage, HalfAMessageIsNone) {
  const auto whole = whole_answer();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto message = parse_dns_message(std::span(whole).first(size));
    ASSERT_FALSE(message) << size;
    EXPECT_EQ(message.error().code, ErrorCode::kCorrupt);
  }
}

TEST(DnsMessage, AnyBytesAreReadOrRefused) {
  std::mt19937 random(1);
  const auto pick = [&](std::size_t below) { return random() % below; };
  const auto whole = whole_answer();
  std::size_t read = 0;
  std::size_t refused = 0;
  for (int round = 0; round < 100'000; ++round) {
    std::vector<std::byte> bytes = whole;
    if (round % 4 == 0) {
      bytes.resize(pick(300));
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(pick(256));
    } else {
      for (std::size_t changes = 1 + pick(4); changes > 0; --changes) {
        // Lengths and references, more often than chance would have it.
        bytes[pick(bytes.size())] =
            static_cast<std::byte>(pick(2) == 0 ? 0xC0 | pick(2) : pick(256));
      }
    }
    const auto message = parse_dns_message(bytes);
    if (!message) {
      ASSERT_EQ(message.error().code, ErrorCode::kCorrupt);
      ++refused;
      continue;
    }
    ++read;
    // A record takes at least eleven bytes.
    ASSERT_LE(message->answers.size() + message->additional.size(), bytes.size() / 11);
  }
  EXPECT_GT(read, 1000U);
  EXPECT_GT(refused, 1000U);
}

TEST(DnsName, IsReadFromText) {
  EXPECT_THAT(parse_dns_name("_a._tcp.local").value(), ElementsAre("_a", "_tcp", "local"));
  EXPECT_THAT(parse_dns_name("local.").value(), ElementsAre("local"));
  for (const std::string wrong : {"", ".", "a..b", ".a", "a.."}) {
    EXPECT_EQ(parse_dns_name(wrong).error().code, ErrorCode::kInvalidArgument) << wrong;
  }
  EXPECT_TRUE(parse_dns_name(std::string(63, 'a')));
  EXPECT_FALSE(parse_dns_name(std::string(64, 'a')));
  std::string longest;
  for (int i = 0; i < 126; ++i) longest += "a.";
  EXPECT_TRUE(parse_dns_name(longest + "a"));
  EXPECT_FALSE(parse_dns_name(longest + "ab"));
}

TEST(DnsName, IsTheSameInAnyCase) {
  EXPECT_TRUE(same_name({"Pi-1", "LOCAL"}, {"pi-1", "local"}));
  EXPECT_FALSE(same_name({"pi-1", "local"}, {"pi-2", "local"}));
  EXPECT_FALSE(same_name({"pi-1"}, {"pi-1", "local"}));
}

}  // namespace
}  // namespace pareto::discovery
