#include "coordinator/load/output_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace pareto::load {
namespace {

Value scores(const std::vector<float>& numbers, std::int64_t rows) {
  auto tensor =
      Tensor::allocate(DType::kFloat32, {rows, static_cast<std::int64_t>(numbers.size()) / rows});
  std::memcpy(tensor->mutable_bytes().data(), numbers.data(), numbers.size() * sizeof(float));
  return *std::move(tensor);
}

TEST(OutputError, EqualOutputsDoNotDiffer) {
  const std::vector<Value> outputs{scores({1, 2, 3, 4}, 2)};
  const results::OutputError error = output_error(outputs, outputs);
  EXPECT_EQ(error.max, 0);
  EXPECT_EQ(error.mean, 0);
  EXPECT_EQ(error.top1_agreement, 1);
}

TEST(OutputError, IsRelativeToTheLargestAndCountsRowsThatChangedTheirClass) {
  const std::vector<Value> expected{scores({1, 2, 10, 4}, 2)};
  const std::vector<Value> found{scores({3, 2, 10, 4}, 2)};
  const results::OutputError error = output_error(expected, found);
  EXPECT_NEAR(error.max, 0.2, 1e-6);
  EXPECT_NEAR(error.mean, 0.05, 1e-6);
  EXPECT_EQ(error.top1_agreement, 0.5);
}

TEST(OutputError, OtherTensorsAreInfinitelyFar) {
  const std::vector<Value> expected{scores({1, 2}, 1)};
  EXPECT_TRUE(std::isinf(output_error(expected, {}).max));
  EXPECT_TRUE(std::isinf(output_error(expected, {scores({1, 2, 3}, 1)}).max));
  EXPECT_EQ(output_error({}, {}).max, 0);
}

TEST(CheckOutputs, NamesWhatIsNotTheWholeModels) {
  const auto refusal = [](const std::vector<Value>& found) {
    const auto checked = check_outputs({scores({1, 2}, 1)}, found);
    return checked ? "fine" : checked.error().message;
  };
  EXPECT_EQ(refusal({scores({1, 2.5}, 1)}), "fine") << "how far is another question";
  EXPECT_EQ(refusal({}), "the pipeline returned 0 tensors, the whole model returns 1");
  EXPECT_EQ(refusal({scores({1, 2, 3}, 1)}),
            "output 0 is float32[1x3], the whole model's is float32[1x2]");
  EXPECT_EQ(refusal({Tensor::allocate(DType::kFloat64, {1, 2}).value()}),
            "output 0 is float64[1x2], the whole model's is float32[1x2]");
  EXPECT_NE(refusal({scores({1, NAN}, 1)}), "fine");
}

}  // namespace
}  // namespace pareto::load
