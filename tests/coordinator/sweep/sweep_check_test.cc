#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "coordinator/sweep/sweep_plan.h"
#include "tests/coordinator/sweep/sweep_plan_fixture.h"

namespace pareto::sweep {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class SweepCheckTest : public SweepPlanTest {
 protected:
  /// Returns why the usual options with that change are refused.
  template <typename Change>
  std::string refused(Change change) {
    SweepOptions options;
    change(options);
    const auto checked = check_sweep(options, cluster_);
    return checked ? "accepted" : checked.error().message;
  }
};

TEST_F(SweepCheckTest, RefusesWhatCannotBeMeasured) {
  EXPECT_THAT(refused([](SweepOptions& o) { o.batches = {0}; }), HasSubstr("batch 0"));
  EXPECT_THAT(refused([](SweepOptions& o) { o.stages = {3}; }),
              HasSubstr("3 stages need as many devices; there are 2"));
  EXPECT_THAT(refused([](SweepOptions& o) {
                o.stages = {2, 2};
              }),
              HasSubstr("stages 2 would be measured twice"));
  EXPECT_THAT(refused([](SweepOptions& o) {
                o.conditions = {"none", "none"};
              }),
              HasSubstr("network none would be measured twice"));
  EXPECT_THAT(refused([](SweepOptions& o) { o.settings.engine = "onnx"; }),
              AllOf(HasSubstr("onnx"), HasSubstr("plain")));
  EXPECT_THAT(refused([](SweepOptions& o) { o.settings.precision = "fp7"; }), HasSubstr("fp7"));
  EXPECT_THAT(refused([](SweepOptions& o) { o.transports = {"tpc"}; }),
              AllOf(HasSubstr("tpc"), HasSubstr("tcp")));
  EXPECT_THAT(refused([](SweepOptions& o) { o.rounds = 0; }), HasSubstr("rounds"));
  EXPECT_THAT(refused([](SweepOptions& o) {
                o.transports = {"tcp", "tcp"};
              }),
              HasSubstr("transport tcp would be measured twice"));
}

TEST_F(SweepCheckTest, NeedsOneOfEachDimension) {
  const std::string expected = "a sweep needs at least one number of stages";
  EXPECT_THAT(refused([](SweepOptions& o) { o.stages.clear(); }), StartsWith(expected));
  EXPECT_THAT(refused([](SweepOptions& o) { o.batches.clear(); }), StartsWith(expected));
  EXPECT_THAT(refused([](SweepOptions& o) { o.micro_batches.clear(); }), StartsWith(expected));
  EXPECT_THAT(refused([](SweepOptions& o) { o.transports.clear(); }), StartsWith(expected));
  EXPECT_THAT(refused([](SweepOptions& o) { o.codecs.clear(); }), StartsWith(expected));
  EXPECT_THAT(refused([](SweepOptions& o) { o.conditions.clear(); }), StartsWith(expected));
}

TEST_F(SweepCheckTest, TakesTheLeastOfEachNumberAndNothingBelowIt) {
  EXPECT_EQ(refused([](SweepOptions&) {}), "accepted");
  EXPECT_EQ(refused([](SweepOptions& o) {
              o.window = 0;
              o.requests = o.rounds = 1;
              o.settings.threads = 0;
              o.budget_s = std::numeric_limits<double>::denorm_min();
              o.stages = {1};
              o.batches = {1};
              o.micro_batches = {0};
              o.codec_error = 0;
            }),
            "accepted");
  EXPECT_EQ(refused([](SweepOptions& o) { o.window = -1; }), "window -1 is less than 0");
  EXPECT_EQ(refused([](SweepOptions& o) { o.requests = 0; }), "requests 0 is less than 1");
  EXPECT_EQ(refused([](SweepOptions& o) { o.rounds = std::numeric_limits<int>::min(); }),
            "rounds -2147483648 is less than 1");
  EXPECT_EQ(refused([](SweepOptions& o) { o.settings.threads = -1; }), "threads -1 is less than 0");
  EXPECT_EQ(refused([](SweepOptions& o) { o.stages = {2, 0}; }), "stages 0 is less than 1");
  EXPECT_EQ(refused([](SweepOptions& o) { o.batches = {1, -8}; }), "batch -8 is less than 1");
  EXPECT_EQ(refused([](SweepOptions& o) {
              o.micro_batches = {0, -1};
            }),
            "micro-batch -1 is less than 0");
}

TEST_F(SweepCheckTest, WhatIsNoNumberIsNoBudgetAndNoError) {
  for (const double budget_s : {0.0, -1.0, kNaN}) {
    EXPECT_THAT(refused([&](SweepOptions& o) { o.budget_s = budget_s; }),
                HasSubstr("leaves no time to measure"));
  }
  for (const double error : {-1e-9, kNaN, -HUGE_VAL}) {
    EXPECT_THAT(refused([&](SweepOptions& o) { o.codec_error = error; }),
                HasSubstr("is not at least 0"));
  }
}

TEST_F(SweepCheckTest, LooksAtAllSettings) {
  const auto other = [&](auto change) {
    return refused([&](SweepOptions& o) { change(o.more_settings.emplace_back()); });
  };
  EXPECT_EQ(other([](plan::StageSettings& s) { s.threads = 2; }), "accepted");
  EXPECT_THAT(other([](plan::StageSettings& s) { s.threads = -2; }), HasSubstr("threads -2"));
  EXPECT_THAT(other([](plan::StageSettings& s) { s.engine = ""; }), HasSubstr("no engine \"\""));
  EXPECT_THAT(other([](plan::StageSettings& s) { s.precision = "FP32"; }), HasSubstr("FP32"));
  EXPECT_THAT(other([](plan::StageSettings& s) { s.schedule = "{"; }), HasSubstr("no JSON"));
}

TEST_F(SweepCheckTest, AMixLeavesNoLinkWithoutATransport) {
  for (const char* mix : {"tcp+", "+tcp", "tcp++tcp", "+", ""}) {
    EXPECT_NE(refused([&](SweepOptions& o) { o.transports = {mix}; }), "accepted") << mix;
  }
  EXPECT_THAT(refused([](SweepOptions& o) { o.transports = {"tcp+tcp+tcp+tcp"}; }),
              HasSubstr("names 4 links, the plans have 3"));
  EXPECT_EQ(refused([](SweepOptions& o) {
              o.stages = {1, 2};
              o.transports = {"tcp+grpc", "tcp+grpc+tcp"};
            }),
            "accepted")
      << "each fits one of the numbers of stages";
}

TEST_F(SweepCheckTest, MoreStagesThanDevicesTakeNoRoom) {
  // A list of as many links would take 64 GiB.
  EXPECT_EQ(refused([](SweepOptions& o) { o.stages = {std::numeric_limits<int>::max()}; }),
            "2147483647 stages need as many devices; there are 2");
}

TEST_F(SweepCheckTest, OfGivenPlansOnlyLooksAtHowTheyAreMeasured) {
  const auto with_plan = [&](auto change) {
    return refused([&](SweepOptions& o) {
      o.plans.emplace_back();
      change(o);
    });
  };
  EXPECT_EQ(with_plan([](SweepOptions& o) {
              o.stages = {7, 7};
              o.transports = {"tpc"};
              o.codecs = {"int9"};
              o.settings.engine = "onnx";
            }),
            "accepted")
      << "plans say all that themselves";
  EXPECT_THAT(with_plan([](SweepOptions& o) { o.rounds = 0; }), HasSubstr("rounds 0"));
  EXPECT_THAT(with_plan([](SweepOptions& o) {
                o.conditions = {"none", "none"};
              }),
              HasSubstr("network none would be measured twice"));
}

}  // namespace
}  // namespace pareto::sweep
