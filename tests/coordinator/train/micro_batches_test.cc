#include "coordinator/train/micro_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_data.h"

namespace pareto::train {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

std::vector<std::int64_t> labels_of(const Value& value) {
  const auto bytes = value.get_if<Tensor>()->bytes();
  std::vector<std::int64_t> labels(bytes.size() / sizeof(std::int64_t));
  std::memcpy(labels.data(), bytes.data(), bytes.size());
  return labels;
}

TEST(MicroBatches, HaveTheirSamplesAndLabels) {
  const SmallData data(10, 3);
  const auto batch = make_batch(data, {4, 0, 9, 2, 5});
  ASSERT_TRUE(batch) << batch.error().message;
  const auto micro = micro_batches(*batch, 2);
  ASSERT_TRUE(micro) << micro.error().message;
  ASSERT_THAT(*micro, SizeIs(2));
  const Tensor& first = *(*micro)[0].inputs.front().get_if<Tensor>();
  const Tensor& second = *(*micro)[1].inputs.front().get_if<Tensor>();
  EXPECT_THAT(first.shape(), ElementsAre(3, 3));
  EXPECT_THAT(floats_of(first), ElementsAre(4, 4.5, 5, 0, 0.5, 1, 9, 9.5, 10));
  EXPECT_THAT(floats_of(second), ElementsAre(2, 2.5, 3, 5, 5.5, 6));
  EXPECT_THAT(labels_of((*micro)[0].target), ElementsAre(1, 0, 0));
  EXPECT_THAT(labels_of((*micro)[1].target), ElementsAre(2, 2));
  EXPECT_EQ((*micro)[0].samples, 3);
}

// Kernels may compute otherwise in memory that is not aligned.
TEST(MicroBatches, LieInAlignedMemory) {
  const Tensor tensor = tensor_of({3, 5}, std::vector<float>(15, 1));
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto rows = rows_of(tensor, i, 1);
    ASSERT_TRUE(rows);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(rows->bytes().data()) % Tensor::kAlignment, 0);
  }
}

TEST(MicroBatches, RowsThatAreNotThereAreRefused) {
  const Tensor tensor = tensor_of({3, 2}, std::vector<float>(6, 1));
  EXPECT_TRUE(rows_of(tensor, 1, 2));
  EXPECT_FALSE(rows_of(tensor, 2, 2));
  EXPECT_FALSE(rows_of(tensor, -1, 2));
  EXPECT_FALSE(rows_of(tensor, 0, 0));
  EXPECT_FALSE(rows_of(tensor_of({}, {1}), 0, 1));
}

}  // namespace
}  // namespace pareto::train
