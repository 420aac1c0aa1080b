#include "runtime/torch/checked_layers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/torch/thrown_by.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

TEST(CheckedLayers, NormsHaveANumberInMemoryForEachChannel) {
  const at::Tensor x = at::rand({2, 4, 3});
  const at::Tensor few = at::quantize_per_tensor(x, 0.1, 3, at::kQUInt8);
  const at::Tensor four = at::ones({4});
  const c10::IValue none;
  for (const at::Tensor& short_one :
       {at::ones({1}), at::ones({1}).expand({4}), at::ones({0}), at::ones({4}).narrow(0, 1, 3)}) {
    EXPECT_THAT(
        thrown_by_operator("quantized::group_norm", {few, 2, short_one, four, 1e-5, 0.1, 3}),
        HasSubstr("a weight has not one number in memory for each of 4 channels"));
    for (const char* const name : {"quantized::instance_norm", "quantized::batch_norm1d"}) {
      const torch::jit::Stack vectors = name == std::string("quantized::batch_norm1d")
                                            ? torch::jit::Stack{few, four, four, four, short_one}
                                            : torch::jit::Stack{few, four, short_one};
      torch::jit::Stack all = vectors;
      for (const c10::IValue& value : {c10::IValue(1e-5), c10::IValue(0.1), c10::IValue(3)}) {
        all.push_back(value);
      }
      EXPECT_THAT(thrown_by_operator(name, all), HasSubstr("a weight has not")) << name;
    }
    EXPECT_THAT(thrown_by_operator("aten::batch_norm",
                                   {x, short_one, none, four, four, false, 0.1, 1e-5, false}),
                HasSubstr("a weight has not"));
    EXPECT_THAT(thrown_by_operator("aten::group_norm", {x, 2, none, short_one, 1e-5, false}),
                HasSubstr("a weight has not"));
  }
  EXPECT_EQ(thrown_by_operator("quantized::group_norm", {few, 2, four, four, 1e-5, 0.1, 3}),
            "nothing");
  EXPECT_EQ(thrown_by_operator("quantized::instance_norm", {few, four, four, 1e-5, 0.1, 3}),
            "nothing");
  EXPECT_EQ(
      thrown_by_operator("quantized::batch_norm1d", {few, four, four, four, four, 1e-5, 0.1, 3}),
      "nothing");
  EXPECT_EQ(
      thrown_by_operator("aten::batch_norm", {x, four, none, four, four, false, 0.1, 1e-5, false}),
      "nothing");
  EXPECT_EQ(thrown_by_operator("aten::group_norm", {x, 2, four, none, 1e-5, false}), "nothing");
  EXPECT_THAT(thrown_by_operator("quantized::group_norm", {few, 0, four, four, 1e-5, 0.1, 3}),
              HasSubstr("a number is less than 1"));
}

TEST(CheckedLayers, NumbersOfLayersAreNotSoLargeThatTheirProductsAreZero) {
  const at::Tensor x = at::rand({1, 4, 2, 2});
  const auto shuffle = [&](std::int64_t factor) {
    return thrown_by_layer("x, n: int", "torch.pixel_shuffle(x, n)", {x, factor});
  };
  EXPECT_EQ(shuffle(2), "nothing");
  EXPECT_THAT(shuffle(std::int64_t{1} << 40), HasSubstr("is not between -16777216 and 16777216"));
  EXPECT_THAT(thrown_by_layer("x, w, n: int", "torch.conv2d(x, w, None, [1, 1], [0, 0], [1, 1], n)",
                              {x, at::rand({4, 4, 1, 1}), std::int64_t{1} << 62}),
              HasSubstr("is not between"));
  EXPECT_THAT(
      thrown_by_layer("x, n: int", "torch.max_pool2d(x, [1, n])", {x, -(std::int64_t{1} << 40)}),
      HasSubstr("is not between"));
}

TEST(CheckedLayers, BagsOfIndicesLieOneBehindTheOther) {
  const auto whole = [](std::vector<std::int64_t> values) { return at::tensor(values, at::kLong); };
  const auto sum = [&](const at::Tensor& indices, const at::Tensor& offsets) {
    return thrown_by_layer("w, i, o", "torch.embedding_bag(w, i, o)[0]",
                           {at::rand({6, 3}), indices, offsets});
  };
  EXPECT_EQ(sum(whole({1, 2, 5}), whole({0, 2, 2})), "nothing");
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const at::Tensor& offsets :
       {whole({0, std::int64_t{1} << 40, 2}), whole({0, 2, 1}), whole({0, 4}), whole({1, 2}),
        whole({0, most, -most - 1, -1, 3})}) {
    EXPECT_THAT(sum(whole({1, 2, 5}), offsets), HasSubstr("or offsets lead elsewhere"));
  }
  EXPECT_THAT(sum(whole({1}).expand({1000}), whole({0})), HasSubstr("indices do not lie one"));
  EXPECT_THAT(sum(whole({1, 2, 3, 4, 5, 0}).view({3, 2}), whole({0, 2})),
              HasSubstr("indices do not lie one"));
  EXPECT_THAT(thrown_by_operator("quantized::embedding_byte",
                                 {c10::IValue(), whole({1}).expand({1000}), false}),
              HasSubstr("indices do not lie one"));
}

TEST(CheckedLayers, BagsTakeRowsOfAMatrix) {
  for (const std::vector<std::int64_t>& sizes :
       std::vector<std::vector<std::int64_t>>{{6}, {6, 2, 0}, {6, 2, 2}}) {
    EXPECT_THAT(thrown_by_layer("w, i, o", "torch.embedding_bag(w, i, o)[0]",
                                {at::rand(sizes), at::tensor({1, 2, 5}, at::kLong),
                                 at::tensor({0L, 2L}, at::kLong)}),
                HasSubstr("its weight is no matrix"));
  }
}

TEST(CheckedLayers, TransposedConvolutionsTakeNoEndlessSteps) {
  const at::Tensor x = at::rand({2, 4, 9});
  const at::Tensor weight = at::rand({4, 6, 3});
  const auto convolve = [&](std::int64_t step) {
    return thrown_by_layer("x, w, n: int", "torch.conv_transpose1d(x, w, None, [n])",
                           {x, weight, step});
  };
  EXPECT_EQ(convolve(2), "nothing");
  EXPECT_EQ(convolve(1000), "nothing");
  EXPECT_THAT(convolve(65536), HasSubstr("a step of 65536 is too large for 6 channels"));
  const auto one_of_both = [&](bool is_transposed) {
    return thrown_by_operator(
        "aten::convolution",
        {x, is_transposed ? weight : at::rand({6, 4, 3}), c10::IValue(),
         std::vector<std::int64_t>{65536}, std::vector<std::int64_t>{0},
         std::vector<std::int64_t>{1}, is_transposed, std::vector<std::int64_t>{0}, 1},
        "");
  };
  EXPECT_THAT(one_of_both(true), HasSubstr("is too large for 6 channels"));
  EXPECT_EQ(one_of_both(false), "nothing");
}

TEST(CheckedLayers, LossesHaveClasses) {
  const auto loss = [](const at::Tensor& x, const at::Tensor& classes) {
    return thrown_by_layer("x, t", "torch.nll_loss(x, t)", {x, classes});
  };
  EXPECT_EQ(loss(at::rand({3, 4}), at::tensor({0, 3, 1}, at::kLong)), "nothing");
  EXPECT_EQ(loss(at::rand({0, 4}), at::empty({0}, at::kLong)), "nothing");
  EXPECT_THAT(loss(at::rand({3, 0}), at::tensor({0, 3, 1}, at::kLong)), HasSubstr("has no class"));
  EXPECT_THAT(thrown_by_operator("aten::nll_loss_nd", {at::rand({0}), at::empty({0}, at::kLong),
                                                       c10::IValue(), 1, -100}),
              HasSubstr("has no class"));
}

TEST(CheckedLayers, LossesHaveAWeightForEachClass) {
  const auto loss = [](const at::Tensor& weight) {
    return thrown_by_operator("aten::multi_margin_loss",
                              {at::rand({3, 4}), at::tensor({0, 3, 1}, at::kLong), 1, 1, weight, 1},
                              "");
  };
  EXPECT_EQ(loss(at::rand({4})), "nothing");
  EXPECT_EQ(loss(at::Tensor()), "nothing");
  EXPECT_THAT(loss(at::rand({})), HasSubstr("it has 1 weight for 4 classes"));
  EXPECT_THAT(loss(at::rand({3})), HasSubstr("it has 3 weights for 4 classes"));
}

TEST(CheckedLayers, BagsHaveAKnownModeAndEndWithTheIndices) {
  const auto sum = [](std::int64_t mode, std::int64_t end) {
    return thrown_by_layer("w, i, o, m: int",
                           "torch.embedding_bag(w, i, o, False, m, False, None, True)[0]",
                           {at::rand({6, 3}), at::tensor({1, 2, 5}, at::kLong),
                            at::tensor({0L, end}, at::kLong), mode});
  };
  EXPECT_EQ(sum(1, 3), "nothing");
  EXPECT_THAT(sum(1, 2), HasSubstr("or offsets lead elsewhere"));
  EXPECT_THAT(sum(17, 3), HasSubstr("there is no mode 17"));
  EXPECT_THAT(thrown_by_operator("quantized::embedding_byte",
                                 {c10::IValue(), at::empty({0}, at::kLong), false}),
              HasSubstr("or offsets lead elsewhere"));
}

TEST(CheckedLayers, EigenvaluesAreOfFiniteNumbers) {
  at::Tensor matrix = at::eye(3);
  const auto values = [&] { return thrown_by_layer("x", "torch.linalg_eigvals(x)", {matrix}); };
  EXPECT_EQ(values(), "nothing");
  matrix[1][1] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(values(), HasSubstr("a number is not finite"));
  matrix[1][1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(values(), HasSubstr("a number is not finite"));
}

TEST(CheckedLayers, PaddingIsNoLargerHoweverItIsNamed) {
  const std::int64_t far = std::int64_t{1} << 62;
  for (const char* const kind : {"reflect", "replicate", "circular", "constant"}) {
    EXPECT_THAT(thrown_by_layer("x, n: int", fmt::format("torch.pad(x, [n, 3], \"{}\")", kind),
                                {at::rand({1, 1, 8}), far}),
                HasSubstr("is not between"));
  }
  EXPECT_EQ(thrown_by_layer("x", "torch.pad(x, [2, 3], \"reflect\")", {at::rand({1, 1, 8})}),
            "nothing");
  EXPECT_EQ(
      thrown_by_layer("x", "torch.constant_pad_nd(x, [2, 3], -1000000000)", {at::rand({1, 1, 8})}),
      "nothing")
      << "a value of an element";
}

TEST(CheckedLayers, AttentionHasAValueForEachKey) {
  // In LibTorch 1.13 the operator has another name.
  const auto attend = [](const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                         const c10::IValue& mask) {
    install_safe_operators();
    const bool old = torch::jit::getAllOperatorsFor(
                         c10::Symbol::fromQualString("aten::scaled_dot_product_attention"))
                         .empty();
    return old ? thrown_by_operator("aten::_scaled_dot_product_attention",
                                    {query, key, value, mask, 0.0, false, false})
               : thrown_by_operator("aten::scaled_dot_product_attention",
                                    {query, key, value, mask, 0.0, false, c10::IValue(), false});
  };
  const c10::IValue none;
  const auto rows = [](std::int64_t count) { return at::rand({1, 2, count, 16}); };
  EXPECT_EQ(attend(rows(6), rows(3), at::rand({1, 2, 3, 8}), none), "nothing");
  EXPECT_EQ(attend(rows(6), rows(3), rows(3), at::zeros({6, 3})), "nothing");
  EXPECT_EQ(attend(rows(6), rows(3), rows(3), at::zeros({1, 1, 1, 3})), "nothing");
  const auto expect_refused = [](const std::string& thrown) {
    EXPECT_THAT(thrown, HasSubstr("its queries, keys, values and mask are not of one size"));
  };
  expect_refused(attend(rows(6), rows(1), rows(3000), none));
  expect_refused(attend(rows(6), rows(64), rows(3), none));
  expect_refused(attend(rows(6), at::rand({1, 2, 3, 8}), rows(3), none));
  expect_refused(attend(rows(6), rows(3), rows(3), at::zeros({6, 2})));
  expect_refused(attend(rows(6), rows(3), rows(3), at::zeros({2, 3})));
}

TEST(CheckedLayers, NormsOfEncodersHaveANumberForEachOfAnEmbedding) {
  const auto encoded = [](std::int64_t first, std::int64_t second) {
    const auto numbers = [](std::int64_t count) { return at::ones({count}); };
    return thrown_by_operator("aten::_transformer_encoder_layer_fwd", {at::rand({2, 4, 8}),
                                                                       8,
                                                                       1,
                                                                       at::rand({24, 8}),
                                                                       numbers(24),
                                                                       at::rand({8, 8}),
                                                                       numbers(8),
                                                                       false,
                                                                       false,
                                                                       1e-5,
                                                                       numbers(first),
                                                                       numbers(8),
                                                                       numbers(second),
                                                                       numbers(8),
                                                                       at::rand({6, 8}),
                                                                       numbers(6),
                                                                       at::rand({8, 6}),
                                                                       numbers(8),
                                                                       c10::IValue(),
                                                                       c10::IValue()});
  };
  const at::NoGradGuard no_gradients;
  EXPECT_EQ(encoded(8, 8), "nothing");
  EXPECT_THAT(encoded(1, 8), HasSubstr("a norm's numbers are not 8"));
  EXPECT_THAT(encoded(8, 1), HasSubstr("a norm's numbers are not 8"));
}

TEST(CheckedLayers, NothingIsDividedByNone) {
  const at::Tensor few = at::quantize_per_tensor(at::rand({2, 0}), 0.1, 3, at::kQUInt8);
  EXPECT_THAT(thrown_by_operator("quantized::linear", {few, c10::IValue(), 0.1, 3}),
              HasSubstr("its input has samples of nothing"));
  const at::Tensor lines = at::quantize_per_tensor(at::rand({2, 3, 0, 4}), 0.1, 3, at::kQUInt8);
  EXPECT_THAT(thrown_by_layer("x", "torch.upsample_nearest2d(x, [8, 8])", {lines}),
              HasSubstr("its input has samples of nothing"));
  const at::Tensor kernel = at::quantize_per_tensor(at::rand({4, 4, 3, 3}), 0.1, 0, at::kQInt8);
  const auto list = [](std::vector<std::int64_t> numbers) {
    return c10::List<std::int64_t>(std::move(numbers));
  };
  EXPECT_THAT(thrown_by_operator("quantized::conv2d_prepack", {kernel, at::rand({4}), list({1, 0}),
                                                               list({1, 1}), list({1, 1}), 1}),
              HasSubstr("a number is less than 1"));
  const at::Tensor x = at::rand({2, 3, 8});
  EXPECT_THAT(
      thrown_by_operator("aten::_native_multi_head_attention",
                         {x, x, x, 8, 0, at::rand({24, 8}), at::rand({24}), at::rand({8, 8}),
                          at::rand({8}), c10::IValue(), true, true, c10::IValue()}),
      HasSubstr("a number is less than 1"));
}

}  // namespace
}  // namespace pareto::runtime
