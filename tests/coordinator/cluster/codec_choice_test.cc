#include "coordinator/cluster/codec_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/support/fake_daemon.h"
#include "tests/coordinator/support/memory_transport.h"

namespace pareto::cluster {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using wire::CodecCost;

/// Costs of a codec that saves 600,000 bytes and takes 6 ms: worth it below 100 MB/s.
const std::vector<CodecCost> kCosts{
    {.codec = "none", .bytes = 1'000'000},
    {.codec = "fp16", .bytes = 500'000, .encode = milliseconds(1), .error = 1e-4},
    {.codec = "int8", .bytes = 250'000, .encode = milliseconds(1), .error = 1e-2},
    {.codec = "lz4",
     .bytes = 400'000,
     .encode = milliseconds(4),
     .decode = milliseconds(2),
     .error = 0},
};

TEST(CodecChoice, ALosslessOnePaysWhereTheLinkIsSlowerThanItsBreakEven) {
  EXPECT_DOUBLE_EQ(crossing_seconds(kCosts[3], 1e8), 0.004 + 0.004 + 0.002);
  EXPECT_EQ(choose_codec(kCosts, 0.99e8, 0), "lz4");
  EXPECT_EQ(choose_codec(kCosts, 1.01e8, 0), "none");
}

TEST(CodecChoice, NoneWinsATie) {
  const std::vector<CodecCost> equal{{.codec = "none", .bytes = 500},
                                     {.codec = "lz4", .bytes = 500}};
  EXPECT_EQ(choose_codec(equal, 1e6, 0), "none");
  EXPECT_EQ(choose_codec({}, 1e6, 0), "none");
}

TEST(CodecChoice, WhatLosesMoreThanIsAllowedIsNotChosen) {
  EXPECT_EQ(choose_codec(kCosts, 1e6, 0), "lz4");
  EXPECT_EQ(choose_codec(kCosts, 1e6, 0.9e-4), "lz4");
  // Smaller still, but its encoding counts as well.
  EXPECT_EQ(choose_codec(kCosts, 1e8, 1e-4), "fp16");
  EXPECT_EQ(choose_codec(kCosts, 1e6, 1e-2), "int8");
}

TEST(CodecChoice, ADecoderOnASlowerDeviceCountsAsMuchMore) {
  const std::vector<CodecCost> here{{.codec = "lz4", .decode = milliseconds(3)}};
  const std::vector<CodecCost> there{{.codec = "lz4", .decode = milliseconds(12)}};
  const auto elsewhere = decoded_elsewhere(kCosts, here, there);
  EXPECT_EQ(elsewhere[3].decode, milliseconds(8));
  EXPECT_EQ(elsewhere[3].encode, milliseconds(4));
  // Of fp16 nobody knows anything.
  EXPECT_EQ(elsewhere[1].decode, kCosts[1].decode);
}

TEST(CodecChoice, OneWordForThoseOfAPlan) {
  EXPECT_EQ(codec_text({}), "none");
  EXPECT_EQ(codec_text({"lz4", "lz4"}), "lz4");
  EXPECT_EQ(codec_text({"lz4", "none"}), "lz4, none");
  EXPECT_TRUE(check_codec_name("auto"));
  EXPECT_TRUE(check_codec_name("none"));
  EXPECT_THAT(check_codec_name("lz5").error().message, HasSubstr("lz4"));
}

class CodecChooserTest : public testing::Test {
 protected:
  CodecChooserTest() {
    for (const char* name : {"a", "b", "c"}) {
      daemons_.push_back(std::make_unique<test::FakeDaemon>(name, transport_));
      devices_.push_back(daemons_.back().get());
      shards_.push_back(std::make_shared<ResidentShard>());
      daemons_.back()->set_codec_costs(kCosts, {});
      daemons_.back()->set_cpu("one kind");
      const_cast<ResidentShard&>(*shards_.back()).loaded.handle = name;
    }
    plan_.transport = "memory";
  }
  std::vector<std::string> chosen(std::vector<std::string> codecs) {
    plan_.codecs = std::move(codecs);
    return chooser_.choose(plan_, devices_, shards_).value();
  }

  test::MemoryTransport transport_;
  std::vector<std::unique_ptr<test::FakeDaemon>> daemons_;
  std::vector<DaemonClient*> devices_;
  std::vector<ShardLease> shards_;
  plan::Plan plan_;
  CodecChooser chooser_{1e-3};
};

TEST_F(CodecChooserTest, EveryLinkByItsOwnRateMeasuredOnce) {
  daemons_[0]->set_rate(1e6);
  daemons_[1]->set_rate(1e12);
  EXPECT_THAT(chosen({"auto", "auto"}), ElementsAre("lz4", "none"));
  EXPECT_THAT(chosen({"int8", "auto"}), ElementsAre("int8", "none"));
  EXPECT_EQ(daemons_[0]->rates_measured(), 1);
  EXPECT_EQ(daemons_[1]->rates_measured(), 1);
  EXPECT_EQ(daemons_[2]->rates_measured(), 0);
  EXPECT_TRUE(chosen({}).empty());
}

TEST_F(CodecChooserTest, AnotherDaemonOfTheSameNameIsMeasuredAgain) {
  daemons_[0]->set_rate(1e12);
  EXPECT_THAT(chosen({"auto"}), ElementsAre("none"));
  daemons_[0]->set_rate(1e6);
  EXPECT_THAT(chosen({"auto"}), ElementsAre("none"));
  daemons_[0]->set_process(2);
  EXPECT_THAT(chosen({"auto"}), ElementsAre("lz4"));
}

TEST_F(CodecChooserTest, ByTheNetworkAsItIs) {
  daemons_[0]->set_rate(1e12);
  EXPECT_THAT(chosen({"auto"}), ElementsAre("none"));
  daemons_[0]->set_rate(1e6);
  chooser_.network_changed("lte");
  EXPECT_THAT(chosen({"auto"}), ElementsAre("lz4"));
  chooser_.network_changed("");
  EXPECT_THAT(chosen({"auto"}), ElementsAre("none"));
  EXPECT_EQ(daemons_[0]->rates_measured(), 2);
}

TEST_F(CodecChooserTest, ByTheReceiversSpeedWhereItIsAnotherProcessor) {
  daemons_[0]->set_rate(5e6);
  EXPECT_THAT(chosen({"auto"}), ElementsAre("lz4"));
  daemons_[1]->set_cpu("another kind");
  daemons_[0]->set_codec_costs(kCosts, {{.codec = "lz4", .decode = milliseconds(1)}});
  daemons_[1]->set_codec_costs(kCosts, {{.codec = "lz4", .decode = milliseconds(20)}});
  EXPECT_THAT(chosen({"auto"}), ElementsAre("fp16"));
}

TEST_F(CodecChooserTest, ALinkThatCannotBeMeasuredIsNamed) {
  daemons_[0]->set_rate(0);
  plan_.codecs = {"auto"};
  EXPECT_THAT(chooser_.choose(plan_, devices_, shards_).error().message,
              HasSubstr("from stage 0 to 1"));
  plan_.transport = "pigeon";
  EXPECT_EQ(chooser_.choose(plan_, devices_, shards_).error().code, ErrorCode::kNotFound);
  daemons_[0]->die();
  plan_.transport = "memory";
  EXPECT_EQ(chooser_.choose(plan_, devices_, shards_).error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace pareto::cluster
