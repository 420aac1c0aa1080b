#include "coordinator/discovery/service_lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/coordinator/discovery/dns_bytes.h"

namespace pareto::discovery {
namespace {

using test::DnsBytes;
using testing::ElementsAre;
using testing::SizeIs;

const DnsName kName{"_pareto-edge", "_tcp", "example", "org"};

class ServiceLookup : public testing::Test {
 protected:
  Expected<std::vector<std::string>> read(DnsBytes bytes) {
    return read_service_answer(bytes.bytes(), random_);
  }
  std::mt19937_64 random_{1};
};

TEST_F(ServiceLookup, ASchemeAndANameOfAService) {
  EXPECT_TRUE(check_service_address("srv:_pareto-edge._tcp.example.org"));
  EXPECT_TRUE(check_service_address("srv:_pareto-edge._tcp.local."));
  for (const char* wrong :
       {"srv:", "srv:example.org", "srv:_pareto-edge._tcp", "srv:_pareto-edge.tcp.example.org",
        "srv:_pareto-edge._tcp.example.org:7070", "srv:_pareto-edge._tcp..org",
        "srv:_pareto-edge._tcp.exa mple.org", "srv:_pareto-edge._tcp.unix:/a"}) {
    const auto checked = check_service_address(wrong);
    ASSERT_FALSE(checked) << wrong;
    EXPECT_EQ(checked.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(find_service(wrong).error().code, ErrorCode::kInvalidArgument) << "nobody is asked";
  }
}

TEST_F(ServiceLookup, TheLowestPriorityIsTriedFirst) {
  DnsBytes answer;
  answer.answer(kName, DnsType::kSrv).service(20, 9, 7070, {"spare", "example", "org"});
  answer.answer(kName, DnsType::kSrv).service(10, 0, 7071, {"main", "example", "org"});
  answer.answer(kName, DnsType::kSrv).service(30, 0, 7072, {"last", "example", "org"});
  EXPECT_THAT(read(answer).value(), ElementsAre("main.example.org:7071", "spare.example.org:7070",
                                                "last.example.org:7072"));
}

TEST_F(ServiceLookup, WithinAPriorityByWeight) {
  const std::vector<DnsService> services{
      {1, 0, 10, {"never"}}, {1, 10, 11, {"seldom"}}, {1, 30, 13, {"often"}}, {0, 0, 1, {"first"}}};
  std::map<std::string, int> second;
  constexpr double kRounds = 4000;
  for (int i = 0; i < kRounds; ++i) {
    const auto order = in_order_of_trial(services, random_);
    ASSERT_EQ(order.size(), services.size());
    EXPECT_EQ(order[0].target[0], "first");
    std::map<std::string, int> each;
    for (const DnsService& service : order) ++each[service.target[0]];
    ASSERT_THAT(each, SizeIs(4)) << "each of them once";
    ++second[order[1].target[0]];
  }
  // Of the 41 numbers from 0 to 40 one is the first's, ten and thirty are the others'.
  EXPECT_NEAR(second["never"], kRounds / 41, 60);
  EXPECT_NEAR(second["seldom"], kRounds * 10 / 41, 150);
  EXPECT_NEAR(second["often"], kRounds * 30 / 41, 150);
}

TEST_F(ServiceLookup, NoServiceIsSaidToBeThere) {
  EXPECT_EQ(read(DnsBytes()).error().code, ErrorCode::kNotFound);
  DnsBytes refused;
  refused.answer(kName, DnsType::kSrv).service(0, 0, 7070, {});
  EXPECT_EQ(read(refused).error().code, ErrorCode::kNotFound);
  DnsBytes beside;
  beside.more(kName, DnsType::kSrv).service(0, 0, 7070, {"example", "org"});
  EXPECT_EQ(read(beside).error().code, ErrorCode::kNotFound) << "it answers something else";
}

TEST_F(ServiceLookup, AHostThatCannotBeOneIsRefused) {
  for (const std::string label : {"unix:", "a/b", "a b", "[::1]", "a.b", "\xc3\xbc", ""}) {
    DnsBytes answer;
    answer.answer(kName, DnsType::kSrv).service(0, 0, label.empty() ? 0 : 7070, {"a" + label});
    const auto hosts = read(answer);
    ASSERT_FALSE(hosts) << label;
    EXPECT_EQ(hosts.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_EQ(read_service_answer({}, random_).error().code, ErrorCode::kCorrupt);
}

TEST_F(ServiceLookup, NobodyWaitsForManyHosts) {
  DnsBytes answer;
  for (unsigned i = 0; i < 100; ++i) {
    answer.answer(kName, DnsType::kSrv).service(i, 0, 7070, {"h" + std::to_string(i)});
  }
  const auto hosts = read(answer).value();
  ASSERT_THAT(hosts, SizeIs(16));
  EXPECT_EQ(hosts[0], "h0:7070");
}

}  // namespace
}  // namespace pareto::discovery
