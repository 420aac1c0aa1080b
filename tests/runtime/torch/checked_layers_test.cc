#include "runtime/torch/checked_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/runtime/operator.h>

#include "runtime/torch/safe_operators.h"
#include "tests/runtime/torch/module_of.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

/// Returns what code throws that computes an expression of tensors.
std::string thrown_by_layer(const std::string& arguments, const std::string& expression,
                            std::vector<c10::IValue> values) {
  install_safe_operators();
  try {
    module_of("def run(self, " + arguments + "):\n    return " + expression + "\n")
        .get_method("run")(std::move(values));
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

/// Returns what an operator throws, called as the interpreter calls it.
std::string thrown_by_operator(const char* name, torch::jit::Stack values) {
  install_safe_operators();
  try {
    const auto all = torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name));
    all.at(0)->getOperation()(values);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}

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

TEST(CheckedLayers, StepsOfPackedSequencesOnlyFall) {
  const at::Tensor x = at::rand({5, 3});
  const auto pad = [&](const at::Tensor& sizes) {
    return thrown_by_operator("aten::_pad_packed_sequence", {x, sizes, true, 0.0, 0});
  };
  const auto whole = [](std::vector<std::int64_t> values) { return at::tensor(values, at::kLong); };
  EXPECT_EQ(pad(whole({2, 2, 1})), "nothing");
  for (const at::Tensor& sizes : {whole({2, -5}), whole({2, 1, 2}), whole({5, 0}), whole({}),
                                  whole({1}).expand({5}), at::ones({5}), whole({5}).view({1, 1})}) {
    EXPECT_THAT(pad(sizes), HasSubstr("batch_sizes are no counts that only fall"));
  }
}

TEST(CheckedLayers, StatesOfLayersAreOfAsManyLayers) {
  const auto lstm = [](const at::Tensor& hidden, const at::Tensor& cells) {
    return thrown_by_layer(
        "x, h, c, w, v", "torch.lstm(x, [h, c], [w, v], False, 1, 0.0, False, False, False)[0]",
        {at::rand({2, 3, 4}), hidden, cells, at::rand({16, 4}), at::rand({16, 4})});
  };
  EXPECT_EQ(lstm(at::rand({1, 3, 4}), at::rand({1, 3, 4})), "nothing");
  EXPECT_THAT(lstm(at::rand({1, 3, 4}), at::rand({0, 3, 4})),
              HasSubstr("hx has states of other layers"));
  EXPECT_THAT(lstm(at::rand({1, 1, 3, 4}), at::rand({1, 3, 4})),
              HasSubstr("hx has states of other layers"));
}

TEST(CheckedLayers, BagsOfIndicesLieOneBehindTheOther) {
  const auto whole = [](std::vector<std::int64_t> values) { return at::tensor(values, at::kLong); };
  const auto sum = [&](const at::Tensor& indices, const at::Tensor& offsets) {
    return thrown_by_layer("w, i, o", "torch.embedding_bag(w, i, o)[0]",
                           {at::rand({6, 3}), indices, offsets});
  };
  EXPECT_EQ(sum(whole({1, 2, 5}), whole({0, 2, 2})), "nothing");
  for (const at::Tensor& offsets :
       {whole({0, std::int64_t{1} << 40, 2}), whole({0, 2, 1}), whole({0, 4}), whole({1, 2})}) {
    EXPECT_THAT(sum(whole({1, 2, 5}), offsets), HasSubstr("or offsets lead elsewhere"));
  }
  EXPECT_THAT(sum(whole({1}).expand({1000}), whole({0})), HasSubstr("indices do not lie one"));
  EXPECT_THAT(thrown_by_operator("quantized::embedding_byte",
                                 {c10::IValue(), whole({1}).expand({1000}), false}),
              HasSubstr("indices do not lie one"));
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

TEST(CheckedLayers, PicturesAreNotLargerThanTheirScalesMakeThem) {
  const auto line = [](std::int64_t size, const char* scale) {
    return thrown_by_layer("x, n: int",
                           "torch.upsample_linear1d(x, [n], False, " + std::string(scale) + ")",
                           {at::rand({2, 3, 8}), size});
  };
  EXPECT_EQ(line(16, "2.0"), "nothing");
  EXPECT_EQ(line(16, "2.1"), "nothing");
  EXPECT_EQ(line(300, "None"), "nothing");
  EXPECT_THAT(line(17, "2.0"), HasSubstr("8 times 2 is less than 17"));
  EXPECT_THAT(thrown_by_layer("x", "torch._upsample_bicubic2d_aa(x, [8, 300], False, 1.0, 2.0)",
                              {at::rand({2, 3, 8, 8})}),
              HasSubstr("8 times 2 is less than 300"));
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
