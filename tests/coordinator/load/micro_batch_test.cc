#include "coordinator/load/micro_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

namespace pareto::load {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Counts up from `first`.
Tensor counting(Shape shape, std::int64_t first = 0) {
  Tensor tensor = Tensor::allocate(DType::kInt64, std::move(shape)).value();
  std::vector<std::int64_t> numbers(tensor.size_bytes() / sizeof(std::int64_t));
  std::iota(numbers.begin(), numbers.end(), first);
  std::memcpy(tensor.mutable_bytes().data(), numbers.data(), tensor.size_bytes());
  return tensor;
}

plan::Plan plan_of(std::int64_t batch, std::int64_t micro_batch) {
  plan::Plan plan;
  plan.batch = batch;
  plan.micro_batch = micro_batch;
  return plan;
}

TEST(MicroBatch, SizesAddUpToTheBatch) {
  EXPECT_THAT(micro_batch_sizes(plan_of(8, 0)), ElementsAre());
  EXPECT_THAT(micro_batch_sizes(plan_of(8, 3)), ElementsAre(3, 3, 2));
  EXPECT_THAT(micro_batch_sizes(plan_of(8, 8)), ElementsAre(8));
  plan::Plan overlapped = plan_of(7, 0);
  overlapped.stages = {{"a", 0, 4}, {"b", 4, 9}};
  overlapped.stages[1].settings.emplace().schedule = plan::kOverlapSchedule;
  EXPECT_THAT(micro_batch_sizes(overlapped), ElementsAre(4, 3));
  overlapped.micro_batch = 3;
  EXPECT_THAT(micro_batch_sizes(overlapped), ElementsAre(3, 3, 1));
  overlapped.micro_batch = 0;
  overlapped.batch = 1;
  EXPECT_THAT(micro_batch_sizes(overlapped), ElementsAre());
  EXPECT_EQ(plan_of(8, 3).messages(), 3);
  EXPECT_EQ(plan_of(8, 0).messages(), 1);
}

TEST(MicroBatch, WhatWasCutIsPutTogetherAgain) {
  const Value request =
      Tuple{{counting({5, 2, 3}), List{{counting({5})}}, Dict{{{"k", counting({5, 1})}}}, "text"}};
  const std::vector<std::int64_t> sizes{2, 2, 1};
  const auto parts = split_batch(request, sizes);
  ASSERT_TRUE(parts) << parts.error().message;
  ASSERT_EQ(parts->size(), 3U);
  EXPECT_TRUE(bit_equal((*parts)[1], Tuple{{counting({2, 2, 3}, 12), List{{counting({2}, 2)}},
                                            Dict{{{"k", counting({2, 1}, 2)}}}, "text"}}));
  // No byte was copied.
  EXPECT_EQ(tensors_of((*parts)[0])[0]->bytes().data(), tensors_of(request)[0]->bytes().data());
  const auto joined = join_batch(*parts, sizes);
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_TRUE(bit_equal(*joined, request));
}

TEST(MicroBatch, AnInputWithoutTheBatchInFrontIsNamed) {
  const auto parts = split_batch(Tuple{{counting({4, 2}), counting({3, 4})}}, {2, 2});
  ASSERT_FALSE(parts);
  EXPECT_EQ(parts.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(parts.error().message, HasSubstr("shape 3x4"));
  EXPECT_FALSE(split_batch(Tuple{{counting({})}}, {1, 1}));
}

TEST(MicroBatch, AResultThatIsAlwaysTheSameNeedsNoBatch) {
  const auto joined = join_batch(
      {Tuple{{counting({2}), counting({7}, 5)}}, Tuple{{counting({1}, 2), counting({7}, 5)}}},
      {2, 1});
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_TRUE(bit_equal(*joined, Tuple{{counting({3}), counting({7}, 5)}}));
}

TEST(MicroBatch, ResultsThatCannotBeJoinedAreRefused) {
  const auto refusal = [](Value first, Value second) {
    const auto joined = join_batch({std::move(first), std::move(second)}, {2, 1});
    EXPECT_FALSE(joined);
    return joined ? std::string() : joined.error().message;
  };
  // A mean over the batch.
  EXPECT_THAT(refusal(Tuple{{counting({1})}}, Tuple{{counting({1}, 9)}}),
              HasSubstr("does not carry the batch"));
  EXPECT_THAT(refusal(Tuple{{counting({2, 3})}}, Tuple{{counting({1, 4})}}),
              HasSubstr("does not carry the batch"));
  EXPECT_THAT(
      refusal(Tuple{{counting({2}), std::int64_t{2}}}, Tuple{{counting({1}), std::int64_t{1}}}),
      HasSubstr("differ in more than their tensors"));
  EXPECT_THAT(refusal(Tuple{{counting({2})}}, List{{counting({1})}}), HasSubstr("differ"));
  EXPECT_FALSE(join_batch({}, {}));
}

}  // namespace
}  // namespace pareto::load
