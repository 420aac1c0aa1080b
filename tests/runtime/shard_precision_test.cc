// Shards in bf16, and in fp32 where that is too far off.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "tests/runtime/hand_made_shard.h"

namespace pareto::runtime {
namespace {

using test::picture;
using test::small_network;
using testing::HasSubstr;

/// Returns the ways in which the small network is run when bf16 is asked for.
LoadReport asked_for_bf16(double max_error) {
  auto shard = small_network();
  RunnerOptions options;
  options.precision = Precision::kBFloat16;
  options.max_error = max_error;
  const auto runner = shard.load(options);
  EXPECT_TRUE(runner) << runner.error().message;
  return runner ? (*runner)->report() : LoadReport{};
}

TEST(ShardRunner, BFloat16ThatIsTooFarOffGivesWayToTheFastestEngineInFloat32) {
  const LoadReport report = asked_for_bf16(1e-9);
  EXPECT_EQ(report.precision, Precision::kFloat32);
  EXPECT_THAT(report.precision_reason, HasSubstr("% of the largest output, the limit is 1e-07 %"));
  std::map<std::string, Nanoseconds> in_fp32;
  for (const EngineTiming& timing : report.timings) {
    if (timing.precision == Precision::kBFloat16) {
      EXPECT_THAT(timing.failure, HasSubstr(timing.relative_error > 0 ? "off by" : "fp32 only"))
          << timing.engine;
    } else if (timing.failure.empty()) {
      in_fp32[timing.engine] = timing.best;
    }
  }
  EXPECT_EQ(in_fp32.size(), engine_names().size()) << "each engine takes part";
  for (const auto& [engine, best] : in_fp32) EXPECT_GE(best, in_fp32.at(report.engine)) << engine;
}

TEST(ShardRunner, ReportsThePrecisionThatRunsAndWhyItIsNotTheOneAskedFor) {
  const LoadReport report = asked_for_bf16(1);
  EXPECT_EQ(report.precision_reason.empty(), report.precision == Precision::kBFloat16)
      << report.precision_reason;
  if (report.precision == Precision::kFloat32) {
    EXPECT_THAT(report.precision_reason, HasSubstr("bf16 is not faster here"));
  }
}

TEST(ShardRunner, KeepsWhyAnEarlierLoadCameToAnotherPrecision) {
  auto shard = small_network();
  RunnerOptions options;
  options.engine = "prepacked";
  options.precision_reason = "bf16 is off";
  const LoadReport report = shard.load(options).value()->report();
  EXPECT_EQ(report.precision, Precision::kFloat32);
  EXPECT_EQ(report.precision_reason, "bf16 is off");
}

TEST(ShardRunner, AnErrorLimitIsAShare) {
  auto shard = small_network();
  for (const double limit : {0.0, -0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    RunnerOptions options;
    options.max_error = limit;
    const auto runner = shard.load(options);
    ASSERT_FALSE(runner) << limit;
    EXPECT_EQ(runner.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(runner.error().message, HasSubstr("max_error"));
  }
}

TEST(ShardRunner, BFloat16IsNearAndKeepsTypes) {
  auto shard = small_network();
  const std::vector<Value> inputs{picture(), std::int64_t{7}};
  const auto plain = shard.load("plain").value()->run(inputs).value();
  const auto runner = shard.load("channels_last", Precision::kBFloat16);
  ASSERT_TRUE(runner) << runner.error().message;
  const auto outputs = (*runner)->run(inputs).value();
  const double error = relative_error(Tuple{plain}, Tuple{outputs});
  EXPECT_GT(error, 0);
  EXPECT_LT(error, 0.05);
}

}  // namespace
}  // namespace pareto::runtime
