#include "coordinator/sweep/accuracy_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/coordinator/support/small_model.h"

namespace pareto::sweep {
namespace {

using testing::HasSubstr;

plan::Plan two_stages() {
  plan::Plan plan;
  plan.splits = {"after:x"};
  plan.stages = {{"pi", 0, 4}, {"server", 4, 9}};
  return plan;
}

TEST(AccuracyCheck, CodecsAndPrecisionSayWhetherAPlanMayLoseSomething) {
  plan::Plan plan = two_stages();
  EXPECT_FALSE(may_lose(plan));
  for (const char* lossless : {"none", "zstd", "lz4", "zero-bitmap"}) {
    plan.codecs = {lossless};
    EXPECT_FALSE(may_lose(plan)) << lossless;
  }
  for (const char* lossy : {"fp16", "int8", "int8-channel"}) {
    plan.codecs = {lossy};
    EXPECT_TRUE(may_lose(plan)) << lossy;
  }
  plan.codecs.clear();
  plan.settings.precision = "bf16";
  EXPECT_TRUE(may_lose(plan));
  plan.settings.precision = "fp32";
  plan.stages[1].settings = plan.settings;
  plan.stages[1].settings->precision = "bf16";
  EXPECT_TRUE(may_lose(plan));
}

TEST(AccuracyCheck, TransportsAndWindowsDoNotMatter) {
  plan::Plan tcp = two_stages();
  plan::Plan grpc = two_stages();
  grpc.set_transports({"grpc", "tcp", "grpc"});
  grpc.window = 7;
  EXPECT_EQ(computed_part(tcp), computed_part(grpc));
  grpc.codecs = {"int8"};
  EXPECT_NE(computed_part(tcp), computed_part(grpc));
  grpc = tcp;
  grpc.stages[0].device = "phone";
  EXPECT_NE(computed_part(tcp), computed_part(grpc));
}

TEST(AccuracyCheck, WhatLosesNothingHasTheUncutModelsAccuracy) {
  const model::Model model = test::small_model();
  const auto check = AccuracyCheck::open(model, {.data = "synthetic", .limit = 9}).value();
  results::TrialRecord trial;
  trial.batch = 4;
  std::vector<std::string> said;
  ASSERT_TRUE(check->take_uncut(trial, [&](const std::string& now) { said.push_back(now); }));
  ASSERT_TRUE(trial.accuracy);
  EXPECT_EQ(trial.accuracy->samples, 9);
  EXPECT_EQ(trial.accuracy->right, trial.accuracy->uncut_right);
  EXPECT_EQ(trial.accuracy->agreeing, 9);
  EXPECT_FALSE(trial.accuracy->was_run);
  EXPECT_EQ(said.size(), 3U);
  // The samples are answered once for each batch.
  results::TrialRecord other;
  other.batch = 4;
  ASSERT_TRUE(check->take_uncut(other, [&](const std::string& now) { said.push_back(now); }));
  EXPECT_EQ(said.size(), 3U);
  EXPECT_EQ(other.accuracy->right, trial.accuracy->right);
}

TEST(AccuracyCheck, DataThatDoNotFitTheModelAreRefused) {
  const model::Model model = test::small_model();
  const auto refused = AccuracyCheck::open(model, {.data = "synthetic:11"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("10 apart"));
  EXPECT_FALSE(AccuracyCheck::open(model, {.data = "npy:/absent"}));
  EXPECT_FALSE(AccuracyCheck::open(model, {.data = "synthetic", .part = "middle"}));
}

}  // namespace
}  // namespace pareto::sweep
