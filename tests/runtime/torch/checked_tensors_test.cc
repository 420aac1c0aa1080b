#include "runtime/torch/checked_tensors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/runtime/torch/thrown_by.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

/// LibTorch 1.13 takes sizes of this and less for pointers.
constexpr std::int64_t kHalf = -(std::int64_t{1} << 62);

TEST(CheckedTensors, StridesLeadIntoTheirTensor) {
  const auto seen = [](std::int64_t size, std::int64_t stride, std::int64_t offset) {
    return thrown_by_layer("x, n: int, s: int, o: int", "torch.as_strided(x, [n], [s], o)",
                           {at::ones({4}), size, stride, offset});
  };
  EXPECT_EQ(seen(2, 2, 1), "nothing");
  EXPECT_EQ(seen(4, 0, 3), "nothing");
  EXPECT_THAT(seen(5, 1, 0), HasSubstr("out of bounds")) << "LibTorch says so";
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(seen(4, 1, (std::int64_t{1} << 62) - 2), HasSubstr("lead out of any tensor"));
  EXPECT_THAT(seen(2, (std::int64_t{1} << 61) - 2, 1), HasSubstr("lead out of any tensor"));
  EXPECT_THAT(seen(most, most, 0), HasSubstr("lead out of any tensor"));
  EXPECT_THAT(seen(1, 1, -1), HasSubstr("lead out of any tensor"));
  EXPECT_THAT(thrown_by_layer("x, n: int", "torch.as_strided_scatter(x, x, [4], [1], n)",
                              {at::ones({4}), most}),
              HasSubstr("lead out of any tensor"));
  EXPECT_EQ(thrown_by_layer("x", "torch.as_strided(x, [2, 2], [2, 1])", {at::ones({4})}),
            "nothing");
}

TEST(CheckedTensors, BytesAreSeenAsNumbersOnly) {
  const auto seen = [](const at::Tensor& x, c10::ScalarType type) {
    return thrown_by_operator("aten::view", {x, static_cast<std::int64_t>(type)}, "dtype");
  };
  const at::NoGradGuard no_gradients;
  EXPECT_EQ(seen(at::ones({4}), at::kInt), "nothing");
  EXPECT_THAT(seen(at::ones({4}), at::kQInt32), HasSubstr("its bytes are no such numbers"));
  EXPECT_THAT(seen(at::ones({4}), at::ScalarType::Undefined), HasSubstr("no such numbers"));
  EXPECT_THAT(seen(at::quantize_per_tensor(at::ones({4}), 0.1, 3, at::kQUInt8), at::kChar),
              HasSubstr("its bytes are no such numbers"));
}

TEST(CheckedTensors, WritesCannotBeHiddenFromGradients) {
  const auto as_data = [] { return thrown_by_layer("x", "x.data", {at::ones({4})}); };
  const auto as_type = [] {
    return thrown_by_operator("aten::view", {at::ones({4}), static_cast<std::int64_t>(at::kInt)},
                              "dtype");
  };
  EXPECT_THAT(as_data(), HasSubstr("which training needs"));
  EXPECT_THAT(as_type(), HasSubstr("which training needs"));
  EXPECT_EQ(thrown_by_layer("x", "x.view(-1)", {at::ones({4})}), "nothing");
  const at::NoGradGuard no_gradients;
  EXPECT_EQ(as_data(), "nothing");
  EXPECT_EQ(as_type(), "nothing");
}

TEST(CheckedTensors, KindsAreThoseThatThereAre) {
  for (const std::int64_t kind : {-1, 128, 255, 1'000'000}) {
    EXPECT_THAT(thrown_by_layer("k: int", "torch.zeros([2], dtype=k)", {kind}),
                HasSubstr(fmt::format("aten::zeros: there is no kind {}", kind)));
    EXPECT_THAT(
        thrown_by_layer("x, k: int", "torch.clone(x, memory_format=k)", {at::ones({2}), kind}),
        HasSubstr("there is no kind"));
    EXPECT_THAT(thrown_by_layer("k: int", "torch.zeros([2], layout=k)", {kind}),
                HasSubstr("there is no kind"));
  }
  EXPECT_EQ(thrown_by_layer("k: int", "torch.zeros([2], dtype=k)", {std::int64_t{6}}), "nothing");
  for (const c10::ScalarType parts : {at::kQUInt4x2, at::kQUInt2x4}) {
    EXPECT_THAT(thrown_by_layer("x, k: int", "torch.quantize_per_tensor(x, 0.1, 0, k)",
                                {at::ones({8}), static_cast<std::int64_t>(parts)}),
                HasSubstr("its kernels read a byte for each number"));
  }
  EXPECT_EQ(thrown_by_layer("k: int", "torch.zeros([2], layout=k)", {0}), "nothing");
  for (const std::int64_t layout : {1, 2, 3}) {
    EXPECT_THAT(thrown_by_layer("k: int", "torch.zeros([2], layout=k)", {layout}),
                HasSubstr(fmt::format("there is no kind {}, only those below 1", layout)));
  }
  EXPECT_EQ(thrown_by_layer("x", "torch.clone(x, memory_format=0)", {at::ones({2})}), "nothing");
  EXPECT_THAT(thrown_by_layer("x", "torch.clone(x, memory_format=4)", {at::ones({2})}),
              HasSubstr("there is no kind 4, only those below 4"));
}

TEST(CheckedTensors, KindsAreCheckedWhereTheyAreAnyNumbers) {
  for (const std::int64_t kind : {-1, 255}) {
    EXPECT_THAT(thrown_by_operator("aten::to", {at::ones({2}), kind, false, false}, "prim_dtype"),
                HasSubstr("there is no kind"));
  }
  EXPECT_EQ(thrown_by_operator("aten::to", {at::ones({2}), 7, false, false}, "prim_dtype"),
            "nothing");
}

TEST(CheckedTensors, NumbersOfTensorsAreNoPointers) {
  const at::Tensor x = at::ones({2, 3});
  for (const std::int64_t place :
       {std::numeric_limits<std::int64_t>::min(), -(std::int64_t{3} << 61), kHalf, kHalf - 4096}) {
    EXPECT_THAT(thrown_by_layer("x, n: int", "torch.sum_to_size(x, [1, n])", {x, place}),
                HasSubstr("a number is less than"));
    EXPECT_THAT(thrown_by_layer("x, n: int", "x.view([2, n])", {x, place}),
                HasSubstr("a number is less than"));
    EXPECT_THAT(thrown_by_layer("x, n: int", "x[n:]", {x, place}),
                HasSubstr("a number is less than"));
    EXPECT_THAT(thrown_by_layer("n: int", "torch.zeros([n])", {place}),
                HasSubstr("a number is less than"));
    // Numbers that count nothing may be any.
    EXPECT_EQ(thrown_by_layer("n: int", "n + 1", {place}), "nothing");
    EXPECT_EQ(thrown_by_layer("x, n: int", "torch.full_like(x, n)", {x, place}), "nothing");
    EXPECT_EQ(thrown_by_layer("x, n: int", "torch.clamp(x, n)", {x, place}), "nothing");
  }
  EXPECT_EQ(thrown_by_layer("x", "x[-100:9223372036854775807]", {x}), "nothing");
  EXPECT_EQ(thrown_by_layer("x", "torch.sum_to_size(x, [1, 3])", {x}), "nothing");
}

TEST(CheckedTensors, ZeroPointsAreWholeNumbersWhereTheyDivide) {
  const auto quantised = [](const at::Tensor& points, c10::ScalarType type) {
    return thrown_by_layer(
        "x, s, z, t: int", "torch.quantize_per_channel(x, s, z, 0, t)",
        {at::ones({2, 4}), at::ones({2}), points, static_cast<std::int64_t>(type)});
  };
  EXPECT_EQ(quantised(at::zeros({2}, at::kLong), at::kQInt8), "nothing");
  EXPECT_THAT(quantised(at::zeros({2}), at::kQInt32),
              HasSubstr("zero points are no whole numbers"));
}

TEST(CheckedTensors, CountsOfRepeatsAddUp) {
  const auto repeat = [](std::vector<std::int64_t> counts, const char* size) {
    return thrown_by_layer("n", fmt::format("torch.repeat_interleave(n, output_size={})", size),
                           {at::tensor(counts, at::kLong)});
  };
  EXPECT_EQ(repeat({2, 0, 3}, "5"), "nothing");
  EXPECT_EQ(repeat({2, 0, 3}, "None"), "nothing");
  EXPECT_THAT(repeat({5, -4}, "1"), HasSubstr("a count is not between 0 and 2147483648"));
  const std::int64_t quarter = std::int64_t{1} << 62;
  EXPECT_THAT(repeat({quarter, quarter, quarter, quarter, 5}, "None"),
              HasSubstr("a count is not between"));
  EXPECT_THAT(thrown_by_layer("x, n", "torch.repeat_interleave(x, n, 0, output_size=1)",
                              {at::rand({2, 2}), at::tensor({5L, -4L}, at::kLong)}),
              HasSubstr("a count is not between"));
  EXPECT_THAT(thrown_by_layer("x, n: int", "torch.repeat_interleave(x, n)",
                              {at::rand({4}), std::int64_t{1} << 62}),
              HasSubstr("a count is not between"));
}

TEST(CheckedTensors, OneNumberIsSelectedFromATensorOfOne) {
  const auto select = [](const at::Tensor& from, std::int64_t count) {
    return thrown_by_layer("x, i", "torch.index_select(x, 0, i)",
                           {from, at::zeros({count}, at::kLong)});
  };
  const at::Tensor one = at::scalar_tensor(2.5);
  EXPECT_EQ(select(one, 1), "nothing");
  EXPECT_EQ(select(one.view({1}), 100'000), "nothing");
  EXPECT_THAT(select(one, 100'000), HasSubstr("a tensor of one number has no others"));
}

TEST(CheckedTensors, ThereIsACountForEachNumber) {
  const auto count = [](std::int64_t largest) {
    return thrown_by_layer("x", "torch.bincount(x, None, 2)",
                           {at::tensor({std::int64_t{3}, largest}, at::kLong)});
  };
  EXPECT_EQ(count(5), "nothing");
  EXPECT_THAT(count(std::numeric_limits<std::int64_t>::max()), HasSubstr("a number is larger"));
  EXPECT_EQ(thrown_by_layer("x", "torch.bincount(x)", {at::empty({0}, at::kLong)}), "nothing");
}

TEST(CheckedTensors, ThereIsASpacingForEachDimension) {
  const std::vector<c10::IValue> values{at::rand({5, 5}), at::arange(5.0)};
  EXPECT_EQ(thrown_by_layer("x, s", "torch.gradient(x, spacing=[s, s])[0]", values), "nothing");
  EXPECT_EQ(thrown_by_layer("x, s", "torch.gradient(x, spacing=[s], dim=0)[0]", values), "nothing");
  EXPECT_THAT(thrown_by_layer("x, s", "torch.gradient(x, spacing=[s])[0]", values),
              HasSubstr("it has 1 spacing, not 2"));
}

}  // namespace
}  // namespace pareto::runtime
