#include "coordinator/discovery/service_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/discovery/dns_bytes.h"

namespace pareto::discovery {
namespace {

using test::DnsBytes;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const DnsName kLookedFor{"_pareto-edge", "_tcp", "local"};
const DnsName kPiHost{"raspberrypi", "local"};
constexpr const char* kSomebody = "10.0.0.9";

DnsName instance(const std::string& name) { return {name, "_pareto-edge", "_tcp", "local"}; }

DnsBytes pointer_to(const std::string& name, unsigned ttl_s = 120) {
  return DnsBytes().answer(kLookedFor, DnsType::kPtr, ttl_s).name(instance(name));
}

/// Returns all that there is to know of a device, in one answer.
DnsBytes all_about(const std::string& name) {
  return pointer_to(name)
      .more(instance(name), DnsType::kSrv)
      .service(0, 0, 7070, kPiHost)
      .more(instance(name), DnsType::kTxt)
      .text("version=0.1.0")
      .text("name=" + name)
      .more(kPiHost, DnsType::kA)
      .ipv4({192, 168, 1, 21});
}

std::vector<DnsType> types(const std::vector<DnsQuestion>& questions) {
  std::vector<DnsType> list;
  for (const DnsQuestion& question : questions) list.push_back(question.type);
  return list;
}

TEST(ServiceFinder, OneAnswerMaySayAll) {
  ServiceFinder finder(kLookedFor);
  EXPECT_EQ(finder.question().name, kLookedFor);
  EXPECT_TRUE(finder.take(all_about("pi 1. Küche").message(), kSomebody));
  EXPECT_THAT(finder.open_questions(), IsEmpty());
  ASSERT_THAT(finder.found(), SizeIs(1));
  const FoundDevice device = finder.found()[0];
  EXPECT_EQ(device.name, "pi 1. Küche");
  EXPECT_EQ(device.device_name, "pi 1. Küche");
  EXPECT_EQ(device.host, "raspberrypi.local");
  EXPECT_EQ(device.port, 7070);
  EXPECT_EQ(device.version, "0.1.0");
  EXPECT_EQ(device.control_address(), "192.168.1.21:7070");
  EXPECT_FALSE(finder.take(all_about("pi 1. Küche").message(), kSomebody)) << "nothing new";
}

TEST(ServiceFinder, RecordsComeInAnyOrder) {
  ServiceFinder finder(kLookedFor);
  DnsBytes backwards;
  backwards.answer(kPiHost, DnsType::kA).ipv4({192, 168, 1, 21});
  backwards.answer(instance("pi"), DnsType::kTxt).text("");
  backwards.answer(instance("pi"), DnsType::kSrv).service(0, 0, 7070, kPiHost);
  backwards.more(kLookedFor, DnsType::kPtr).name(instance("pi"));
  EXPECT_TRUE(finder.take(backwards.message(), kSomebody));
  EXPECT_THAT(finder.found(), SizeIs(1));
  EXPECT_THAT(finder.open_questions(), IsEmpty());
}

TEST(ServiceFinder, AsksForWhatIsMissing) {
  ServiceFinder finder(kLookedFor);
  finder.take(pointer_to("pi").message(), kSomebody);
  EXPECT_THAT(types(finder.open_questions()), ElementsAre(DnsType::kSrv, DnsType::kTxt));
  EXPECT_EQ(finder.open_questions()[0].name, instance("pi"));
  finder.take(
      DnsBytes().answer(instance("PI"), DnsType::kSrv).service(0, 0, 7070, kPiHost).message(),
      kSomebody);
  EXPECT_THAT(types(finder.open_questions()),
              ElementsAre(DnsType::kTxt, DnsType::kA, DnsType::kAaaa));
  EXPECT_EQ(finder.open_questions()[1].name, kPiHost);
  EXPECT_THAT(finder.found(), IsEmpty()) << "nobody could connect to it";
  finder.take(DnsBytes().answer(kPiHost, DnsType::kA).ipv4({10, 0, 0, 1}).message(), kSomebody);
  EXPECT_THAT(types(finder.open_questions()), ElementsAre(DnsType::kTxt));
  ASSERT_THAT(finder.found(), SizeIs(1));
  EXPECT_EQ(finder.found()[0].version, "");
}

TEST(ServiceFinder, AddressesThatAreOfMostUseStandFirst) {
  ServiceFinder finder(kLookedFor);
  DnsBytes bytes = pointer_to("pi");
  bytes.more(instance("pi"), DnsType::kSrv).service(0, 0, 7070, kPiHost);
  bytes.more(kPiHost, DnsType::kAaaa).ipv6({0xfe80, 0, 0, 0, 0, 0, 0, 1});
  bytes.more(kPiHost, DnsType::kAaaa).ipv6({0x2001, 0xdb8, 0, 0, 0, 0, 0, 1});
  bytes.more(kPiHost, DnsType::kA).ipv4({172, 17, 0, 1});
  bytes.more(kPiHost, DnsType::kA).ipv4({192, 168, 1, 21});
  finder.take(bytes.message(), "192.168.1.21");
  EXPECT_THAT(finder.found().at(0).addresses,
              ElementsAre("192.168.1.21", "172.17.0.1", "2001:db8::1"));
  FoundDevice modern = finder.found()[0];
  modern.addresses = {"2001:db8::1"};
  EXPECT_EQ(modern.control_address(), "[2001:db8::1]:7070");
}

TEST(ServiceFinder, WhatNobodyMayBeCalledIsNotBelieved) {
  ServiceFinder finder(kLookedFor);
  for (const std::string name : {"pi\x1b[2J", "pi\n", "\x7f", "\xc2\x9b", "\xff", "\xc3",
                                 "\xe2\x82", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    EXPECT_FALSE(finder.take(all_about(name).message(), kSomebody)) << name;
  }
  EXPECT_TRUE(finder.take(all_about("\xe2\x82\xac \xf0\x9f\x8d\x93 \xf4\x8f\xbf\xbf").message(),
                          kSomebody));
  // Nor a host, nor a version.
  finder.take(pointer_to("b")
                  .more(instance("b"), DnsType::kSrv)
                  .service(0, 0, 7070, {"a\nb", "local"})
                  .more(instance("b"), DnsType::kTxt)
                  .text("version=\x1b[2J")
                  .message(),
              kSomebody);
  EXPECT_THAT(types(finder.open_questions()), ElementsAre(DnsType::kSrv));
  finder.take(DnsBytes().answer(instance("b"), DnsType::kSrv).service(0, 0, 1, kPiHost).message(),
              kSomebody);
  finder.take(DnsBytes().answer(kPiHost, DnsType::kA).ipv4({1, 2, 3, 4}).message(), kSomebody);
  ASSERT_THAT(finder.found(), SizeIs(2));
  EXPECT_EQ(finder.found()[0].name, "b");
  EXPECT_EQ(finder.found()[0].version, "");
}

TEST(ServiceFinder, WhatWasNotAskedForIsLeftOut) {
  ServiceFinder finder(kLookedFor);
  DnsBytes others;
  others.answer({"_ssh", "_tcp", "local"}, DnsType::kPtr).name({"pi", "_ssh", "_tcp", "local"});
  others.answer(kLookedFor, DnsType::kPtr).name({"pi", "_ssh", "_tcp", "local"});
  others.answer(kLookedFor, DnsType::kPtr).name(kLookedFor);
  others.answer(instance("stranger"), DnsType::kSrv).service(0, 0, 7070, kPiHost);
  EXPECT_FALSE(finder.take(others.message(), kSomebody));
  EXPECT_FALSE(finder.take(pointer_to("gone", 0).message(), kSomebody)) << "it says goodbye";
  EXPECT_THAT(finder.open_questions(), IsEmpty());
  // A service without a host has no addresses, not even those of the root.
  finder.take(pointer_to("pi").message(), kSomebody);
  EXPECT_FALSE(
      finder.take(DnsBytes().answer({}, DnsType::kA).ipv4({1, 2, 3, 4}).message(), kSomebody));
  EXPECT_FALSE(finder.take(
      DnsBytes().answer(instance("pi"), DnsType::kSrv).service(0, 0, 0, kPiHost).message(),
      kSomebody));
  EXPECT_FALSE(finder.take(
      DnsBytes().answer(instance("pi"), DnsType::kSrv).service(0, 0, 7070, {}).message(),
      kSomebody));
}

TEST(ServiceFinder, AFloodHasALimit) {
  ServiceFinder finder(kLookedFor);
  for (int i = 0; i < 1000; ++i) {
    finder.take(all_about("pi" + std::to_string(i)).message(), kSomebody);
    const unsigned part = static_cast<unsigned>(i) % 256;
    finder.take(DnsBytes().answer(kPiHost, DnsType::kA).ipv4({10, 0, part, 1}).message(),
                kSomebody);
  }
  ASSERT_THAT(finder.found(), SizeIs(ServiceFinder::kMostDevices));
  EXPECT_THAT(finder.found()[0].addresses, SizeIs(ServiceFinder::kMostAddresses));
}

}  // namespace
}  // namespace pareto::discovery
