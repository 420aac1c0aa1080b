#include "client/flags/train_flags.h"

#include <gtest/gtest.h>

#include <utility>

namespace pareto::client {
namespace {

/// Returns the batch and the number of its micro-batches that a training takes.
std::pair<std::int64_t, std::int64_t> batch_of(LearningFlags flags, const plan::Plan* plan) {
  flags.order = "1f1b";
  train::TrainingSetup setup;
  const auto read = flags.read(plan, setup);
  EXPECT_TRUE(read) << read.error().message;
  return {setup.batches.batch, setup.micro_batches};
}

TEST(LearningFlags, TakeTheBatchOfAPlanIfNoneIsNamed) {
  using Batch = std::pair<std::int64_t, std::int64_t>;
  LearningFlags named_batch;
  named_batch.batch = 6;
  LearningFlags named_parts;
  named_parts.micro_batches = 3;
  plan::Plan plan;
  plan.batch = 8;
  plan.micro_batch = 2;
  EXPECT_EQ(batch_of({}, &plan), Batch(8, 4));
  EXPECT_EQ(batch_of(named_batch, &plan), Batch(6, 3));
  EXPECT_EQ(batch_of(named_parts, &plan), Batch(8, 3));
  plan.micro_batch = 3;
  EXPECT_EQ(batch_of({}, &plan), Batch(8, 3)) << "the last one is smaller";
  plan.micro_batch = 0;
  EXPECT_EQ(batch_of({}, &plan), Batch(8, 1));
  plan.batch = 1;
  EXPECT_EQ(batch_of({}, &plan), Batch(32, 1)) << "a plan of single requests";
  EXPECT_EQ(batch_of({}, nullptr), Batch(32, 1));
  EXPECT_EQ(batch_of(named_parts, nullptr), Batch(32, 3));
}

}  // namespace
}  // namespace pareto::client
