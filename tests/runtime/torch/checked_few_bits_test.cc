#include "runtime/torch/checked_few_bits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/runtime/torch/thrown_by.h"

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

at::Tensor bytes(const std::vector<std::int64_t>& sizes) {
  return at::quantize_per_tensor(at::rand(sizes), 0.1, 3, at::kQUInt8);
}

TEST(CheckedFewBits, AreNotTurnedInPlace) {
  for (const char* const turn : {"x.t_()", "x.transpose_(0, 1)", "x.swapaxes_(0, 1)",
                                 "x.swapdims_(0, 1)", "x.squeeze_()", "x.unsqueeze_(0)"}) {
    EXPECT_THAT(thrown_by_layer("x", turn, {bytes({2, 3})}),
                HasSubstr("it is not for numbers with a scale"))
        << turn;
    EXPECT_EQ(thrown_by_layer("x", turn, {at::ones({2, 3})}), "nothing") << turn;
  }
}

TEST(CheckedFewBits, HaveSomethingToDivideBy) {
  EXPECT_THAT(thrown_by_operator("quantized::linear", {bytes({0}), c10::IValue(), 0.1, 3}),
              HasSubstr("its input has samples of nothing"));
  for (const char* const name : {"aten::__upsample_bilinear", "aten::__upsample_nearest"}) {
    EXPECT_THAT(thrown_by_operator(
                    name, {bytes({4, 4, 0, 8}), std::vector<std::int64_t>{3, 17}, c10::IValue()},
                    "size_list"),
                HasSubstr("its input has samples of nothing"));
  }
  const auto activated = [](const at::Tensor& x) {
    return thrown_by_layer("x", "torch.hardsigmoid(x)", {x});
  };
  EXPECT_THAT(activated(bytes({0, 3})), HasSubstr("has nothing in it"));
  EXPECT_EQ(activated(at::rand({0, 3})), "nothing");
  EXPECT_EQ(activated(bytes({2, 3})), "nothing");
  EXPECT_THAT(thrown_by_operator("quantized::hardswish", {bytes({0}), 0.1, 3}),
              HasSubstr("has nothing in it"));
  EXPECT_THAT(thrown_by_layer("x", "torch.adaptive_avg_pool2d(x, [0, 0])", {bytes({1, 2, 3, 4})}),
              HasSubstr("a number is less than 1"));
  const auto pack = [](const at::Tensor& weight) {
    return thrown_by_operator("quantized::linear_prepack",
                              {at::quantize_per_tensor(weight, 0.1, 0, at::kQInt8), c10::IValue()});
  };
  EXPECT_EQ(pack(at::rand({2, 4})), "nothing");
  const at::Tensor few_scales = at::quantize_per_channel(at::rand({4, 2}), at::ones({2}),
                                                         at::zeros({2}, at::kLong), 1, at::kQInt8);
  EXPECT_THAT(thrown_by_operator("quantized::linear_prepack", {few_scales, c10::IValue()}),
              HasSubstr("its weight has fewer scales than outputs"));
  for (const at::Tensor& bias : {at::ones({2}, at::kByte), at::ones({1}).expand({2})}) {
    EXPECT_THAT(
        thrown_by_operator("quantized::linear_prepack",
                           {at::quantize_per_tensor(at::rand({2, 4}), 0.1, 0, at::kQInt8), bias}),
        HasSubstr("its bias is not of float32 numbers"));
  }
  EXPECT_THAT(thrown_by_layer("x", "torch._adaptive_avg_pool2d(x, [3])", {bytes({1, 2, 3, 4})}),
              HasSubstr("output_size has 1 number, not 2"));
  EXPECT_THAT(pack(at::rand({0, 4})), HasSubstr("its weight has nothing in it"));
}

TEST(CheckedFewBits, TakeFloat32NumbersOnly) {
  const auto put = [](const at::Tensor& values) {
    return thrown_by_layer("x, i, v", "torch.index_put(x, [i], v)",
                           {bytes({8}), at::tensor({1, 5}, at::kLong), values});
  };
  EXPECT_EQ(put(at::rand({2})), "nothing");
  EXPECT_THAT(put(at::rand({2}).to(at::kBFloat16)), HasSubstr("it puts BFloat16 numbers"));
  EXPECT_THAT(put(at::rand({2}, at::kDouble)), HasSubstr("it puts Double numbers"));
}

TEST(CheckedFewBits, AreSortedByRows) {
  const auto top = [](const at::Tensor& x) {
    return thrown_by_layer("x", "torch.topk(x, 1)[0]", {x});
  };
  EXPECT_EQ(top(bytes({3})), "nothing");
  EXPECT_EQ(top(at::rand({})), "nothing");
  EXPECT_THAT(top(bytes({})), HasSubstr("has no dimension"));
}

/// Has layers of few bits run by QNNPACK as long as a test runs.
class QnnpackLayers : public testing::Test {
 protected:
  void SetUp() override {
    const auto& engines = at::globalContext().supportedQEngines();
    if (std::ranges::find(engines, at::QEngine::QNNPACK) == engines.end()) {
      GTEST_SKIP() << "this LibTorch has no QNNPACK";
    }
    at::globalContext().setQEngine(at::QEngine::QNNPACK);
  }
  void TearDown() override { at::globalContext().setQEngine(before_); }

 private:
  const at::QEngine before_ = at::globalContext().qEngine();
};

at::Tensor few(const std::vector<std::int64_t>& sizes, double scale,
               at::ScalarType type = at::kQInt8) {
  return at::quantize_per_tensor(at::zeros(sizes), scale, 0, type);
}

TEST_F(QnnpackLayers, LinearLayersTakeWhatTheirWeightsDo) {
  const c10::IValue weight =
      result_of_operator("quantized::linear_prepack", {few({2, 4}, 0.1), c10::IValue()});
  const auto linear = [&](const at::Tensor& input) {
    return thrown_by_operator("quantized::linear_dynamic", {input, weight, false});
  };
  EXPECT_EQ(linear(at::rand({3, 4})), "nothing");
  EXPECT_THAT(linear(at::rand({3, 400})), HasSubstr("its input has sizes 3x400, its weight 2x4"));
}

/// The scales of a layer: of its input, weight and output.
struct Scales {
  double input = 1;
  double weight = 1;
  double output = 1;
};

/// Returns what a layer throws that takes an input of this type.
using ThrownByLayer = std::string (*)(const Scales& scales, at::ScalarType type);

std::string thrown_by_linear(const Scales& scales, at::ScalarType type) {
  const c10::IValue packed =
      result_of_operator("quantized::linear_prepack", {few({8, 8}, scales.weight), c10::IValue()});
  return thrown_by_operator("quantized::linear",
                            {few({4, 8}, scales.input, type), packed, scales.output, 0});
}

std::string thrown_by_convolution(const Scales& scales, at::ScalarType type) {
  using Numbers = std::vector<std::int64_t>;
  const Numbers ones{1, 1};
  const c10::IValue packed = result_of_operator(
      "quantized::conv2d_prepack",
      {few({8, 8, 3, 3}, scales.weight), c10::IValue(), ones, Numbers{0, 0}, ones, 1});
  return thrown_by_operator("quantized::conv2d_relu",
                            {few({1, 8, 6, 6}, scales.input, type), packed, scales.output, 0},
                            "new");
}

std::string thrown_by_transposed(const Scales& scales, at::ScalarType type) {
  using Numbers = std::vector<std::int64_t>;
  const Numbers ones{1, 1};
  const Numbers none{0, 0};
  const c10::IValue packed = result_of_operator(
      "quantized::conv_transpose2d_prepack",
      {few({8, 8, 3, 3}, scales.weight), c10::IValue(), ones, none, none, ones, 1});
  return thrown_by_operator("quantized::conv_transpose2d",
                            {few({1, 8, 6, 6}, scales.input, type), packed, scales.output, 0});
}

std::string thrown_by_product(const Scales& scales, at::ScalarType type) {
  return thrown_by_operator(
      "quantized::mul",
      {few({4, 8}, scales.input, type), few({4, 8}, scales.weight, type), scales.output, 0}, "");
}

TEST_F(QnnpackLayers, ScalesOfInt8AreNotSoFarApartThatTheProcessEnds) {
  for (const ThrownByLayer thrown :
       {&thrown_by_linear, &thrown_by_convolution, &thrown_by_transposed, &thrown_by_product}) {
    for (const Scales& sound : {Scales{}, Scales{0.02, 0.005, 0.1}, Scales{0x1p-14, 1, 1}}) {
      EXPECT_EQ(thrown(sound, at::kQInt8), "nothing") << sound.input;
    }
    for (const Scales& far :
         {Scales{1e-30, 1e-3, 1}, Scales{1e-3, 1e-30, 1}, Scales{1, 1, 1e30}, Scales{0x1p-33, 1, 1},
          Scales{std::nan(""), 1, 1}, Scales{1, 1, -1}, Scales{1e30, 0.1, 1}, Scales{1, 1, 1e-30},
          Scales{1, 1, std::nan("")}}) {
      EXPECT_THAT(thrown(far, at::kQInt8), HasSubstr("is too far from those of what it takes"))
          << far.input << ' ' << far.weight << ' ' << far.output;
    }
    // QNNPACK runs these itself.
    EXPECT_EQ(thrown({1e-30, 1e-3, 1}, at::kQUInt8), "nothing");
  }
}

TEST_F(QnnpackLayers, ProductsAreOfSomething) {
  const auto product = [](const std::vector<std::int64_t>& sizes) {
    return thrown_by_operator("quantized::mul", {few({1}, 1), few(sizes, 1), 1.0, 0}, "");
  };
  EXPECT_EQ(product({8, 2}), "nothing");
  EXPECT_THAT(product({8, 2, 0}), HasSubstr("its input has nothing in it"));
}

TEST_F(QnnpackLayers, NoScaleOfAChannelIsTooSmall) {
  const std::vector<std::int64_t> ones{1, 1};
  const std::vector<std::int64_t> none{0, 0};
  const auto thrown = [&](double smallest) {
    const at::Tensor weight =
        at::quantize_per_channel(at::zeros({2, 8, 3, 3}), at::tensor({1.0, smallest}),
                                 at::zeros({2}, at::kLong), 0, at::kQInt8);
    const c10::IValue packed = result_of_operator("quantized::conv2d_prepack",
                                                  {weight, c10::IValue(), ones, none, ones, 1});
    return thrown_by_operator("quantized::conv2d", {few({1, 8, 6, 6}, 1), packed, 1.0, 0}, "new");
  };
  EXPECT_EQ(thrown(0.5), "nothing");
  EXPECT_THAT(thrown(1e-30), HasSubstr("is too far from"));
}

}  // namespace
}  // namespace pareto::runtime
