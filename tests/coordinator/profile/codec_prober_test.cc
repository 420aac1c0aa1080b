#include "coordinator/profile/codec_prober.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/transport/transport.h"
#include "tests/coordinator/support/fake_daemon.h"
#include "tests/coordinator/support/small_model.h"

namespace pareto::profile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kAnything = std::numeric_limits<double>::infinity();

wire::CodecCost cost(const std::string& codec, std::uint64_t bytes, std::int64_t encode,
                     std::int64_t decode, double error = 0) {
  return {codec, bytes, Nanoseconds(encode), Nanoseconds(decode), error};
}

/// Returns a codec looked at behind operators 10 and 20; device 1 encodes three times as slowly as
/// this machine, and decodes twice as fast.
planning::ProbedCodecs two_cuts() {
  planning::ProbedCodecs probed;
  probed.codecs = {"none", "int8"};
  probed.positions = {10, 20};
  probed.plain_bytes = {1000, 2000};
  probed.crossing = {{cost("none", 1000, 0, 0), cost("int8", 250, 500, 800, 0.0000012)},
                     {cost("none", 2000, 0, 0), cost("int8", 1000, 500, 800, 0.5)}};
  probed.standard = {cost("none", 100, 0, 0), cost("int8", 25, 10, 10)};
  probed.on_devices = {probed.standard, {cost("none", 100, 0, 0), cost("int8", 25, 30, 5)}};
  return probed;
}

TEST(CodecFigures, AreThoseOfTheNearestCutAndOfTheDevicesSpeed) {
  const planning::ProbedCodecs probed = two_cuts();
  const auto here = figures_of(probed, 1, 0, 1, 10, 990);
  EXPECT_DOUBLE_EQ(here.bytes_factor, 0.25);
  EXPECT_DOUBLE_EQ(here.encode_ns_per_byte, 0.5);
  EXPECT_DOUBLE_EQ(here.decode_ns_per_byte, 0.4) << "device 1 decodes in half the time";
  EXPECT_EQ(here.loss, 2) << "parts per million, rounded up";
  const auto back = figures_of(probed, 1, 1, 0, 14, 990);
  EXPECT_DOUBLE_EQ(back.encode_ns_per_byte, 1.5);
  EXPECT_DOUBLE_EQ(back.decode_ns_per_byte, 0.8);
  const auto later = figures_of(probed, 1, 0, 1, 99, 990);
  EXPECT_DOUBLE_EQ(later.bytes_factor, 0.5);
  EXPECT_EQ(later.loss, 500'000);
  EXPECT_EQ(figures_of(planning::ProbedCodecs{}, 0, 0, 1, 10, 990), planning::CodecFigures{});
}

TEST(CodecCostOn, IsInProportionToTheDevicesSpeed) {
  const wire::CodecCost on_second = codec_cost_on(two_cuts(), 1, 1, 0);
  EXPECT_EQ(on_second.codec, "int8");
  EXPECT_EQ(on_second.bytes, 250U);
  EXPECT_EQ(on_second.encode, Nanoseconds(1500));
  EXPECT_EQ(on_second.decode, Nanoseconds(400));
  EXPECT_EQ(codec_cost_on(two_cuts(), 1, 0, 0).encode, Nanoseconds(500));
}

class CodecProber : public testing::Test {
 protected:
  CodecProber() : workload_(model_) {
    std::vector<std::unique_ptr<cluster::DaemonClient>> devices;
    auto daemon = std::make_unique<test::FakeDaemon>("pi-1", *transport_);
    daemon->set_codec_costs({},
                            {cost("none", 100, 0, 0), cost("zero-bitmap", 50, 10'000, 10'000),
                             cost("fp16", 50, 10'000, 10'000), cost("int8", 25, 10'000, 10'000)});
    devices.push_back(std::move(daemon));
    cluster_.emplace(cluster::Cluster::of(std::move(devices)));
  }

  std::int64_t position_of(const std::string& split) const {
    for (const auto& point : model_.split_points()) {
      if (point.name == split) return point.position;
    }
    ADD_FAILURE() << "no split point " << split;
    return 0;
  }

  Expected<planning::ProbedCodecs> probe(const std::vector<std::string>& codecs,
                                         double allowed_error) {
    CodecOptions options;
    options.codecs = codecs;
    options.allowed_error = allowed_error;
    // The first convolution, and the ReLU behind it.
    options.positions = {position_of("after:features.0"), position_of("after:features.1")};
    return probe_codecs(
        *cluster_, workload_, options, stop_,
        [&](std::size_t done, std::size_t total) { progress_.emplace_back(done, total); });
  }

  std::unique_ptr<transport::Transport> transport_ = transport::make_transport("inproc").value();
  model::Model model_ = test::small_model();
  cluster::ModelWorkload workload_;
  std::optional<cluster::Cluster> cluster_;
  std::vector<std::pair<std::size_t, std::size_t>> progress_;
  std::atomic<bool> stop_{false};
};

TEST_F(CodecProber, SeesWhatCrossesEachCut) {
  const auto probed = probe({"none", "zero-bitmap", "int8"}, kAnything);
  ASSERT_TRUE(probed) << probed.error().message;
  EXPECT_THAT(probed->codecs, ElementsAre("none", "zero-bitmap", "int8"));
  EXPECT_THAT(progress_, ElementsAre(std::pair(0, 2), std::pair(1, 2)));
  const auto factor = [&](std::size_t codec, int cut) {
    return figures_of(*probed, codec, 0, 0, probed->positions[static_cast<std::size_t>(cut)], 1)
        .bytes_factor;
  };
  EXPECT_GT(factor(1, 0), 0.99) << "no zeros before the ReLU";
  EXPECT_LT(factor(1, 1), 0.8) << "many behind it";
  EXPECT_NEAR(factor(2, 1), 0.25, 0.02);
  const auto lossy = figures_of(*probed, 2, 0, 0, probed->positions[0], 1);
  EXPECT_GT(lossy.loss, 0);
  EXPECT_LT(lossy.loss, 20'000) << "a fiftieth of the largest magnitude";
  EXPECT_GT(lossy.encode_ns_per_byte, 0);
}

TEST_F(CodecProber, EndsWhereItIsStopped) {
  stop_ = true;
  const auto probed = probe({"zero-bitmap"}, kAnything);
  ASSERT_FALSE(probed);
  EXPECT_EQ(probed.error().code, ErrorCode::kClosed);
  EXPECT_TRUE(progress_.empty());
}

TEST_F(CodecProber, LeavesOutWhatLosesTooMuch) {
  const auto probed = probe({"none", "fp16", "int8"}, 1e-4);
  ASSERT_TRUE(probed) << probed.error().message;
  EXPECT_THAT(probed->codecs, ElementsAre("none", "fp16"));
  EXPECT_EQ(probed->crossing[0].size(), 2U);
  EXPECT_EQ(probed->on_devices[0][1].codec, "fp16");
  const auto none = probe({"fp16", "int8"}, 0);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(none.error().message, HasSubstr("least fp16"));
}

TEST_F(CodecProber, MeasuresNothingForNone) {
  const auto probed = probe({"none"}, 0);
  ASSERT_TRUE(probed);
  EXPECT_TRUE(probed->positions.empty());
  EXPECT_TRUE(progress_.empty());
}

TEST_F(CodecProber, ADeviceThatLacksACodecIsNamed) {
  const auto probed = probe({"none", "lz4"}, 0);
  ASSERT_FALSE(probed);
  EXPECT_THAT(probed.error().message, HasSubstr("pi-1 knows no codec \"lz4\""));
}

}  // namespace
}  // namespace pareto::profile
