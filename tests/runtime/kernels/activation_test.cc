#include "runtime/kernels/activation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace pareto::runtime::kernels {
namespace {

using Kind = Activation::Kind;

double defined_as(const Activation& activation, double x) {
  const auto hardsigmoid = [](double y) { return std::min(std::max(y + 3, 0.0), 6.0) / 6; };
  switch (activation.kind) {
    case Kind::kNone:
      return x;
    case Kind::kRelu:
      return std::max(x, 0.0);
    case Kind::kClamp:
      return std::min(std::max<double>(x, activation.low), static_cast<double>(activation.high));
    case Kind::kHardswish:
      return x * hardsigmoid(x);
    case Kind::kSilu:
      return x / (1 + std::exp(-x));
    case Kind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Kind::kHardsigmoid:
      return hardsigmoid(x);
  }
  return x;
}

constexpr Kind kKinds[]{Kind::kNone, Kind::kRelu,    Kind::kClamp,      Kind::kHardswish,
                        Kind::kSilu, Kind::kSigmoid, Kind::kHardsigmoid};

TEST(Activation, IsItsFunctionOfEveryElement) {
  at::manual_seed(1);
  at::Tensor input = at::cat({at::linspace(-8, 8, 161), at::randn({500}) * 50,
                              at::tensor({0.F, -0.F, 3.F, -3.F, 6.F, -1e30F, 1e30F, 1e-30F})});
  for (const Kind kind : kKinds) {
    const Activation activation{kind, -0.5F, 0.75F};
    at::Tensor result = input.clone();
    apply(activation, result);
    for (std::int64_t i = 0; i < input.numel(); ++i) {
      const double expected = defined_as(activation, input[i].item<double>());
      EXPECT_NEAR(result[i].item<double>(), expected, 1e-6 + 1e-6 * std::abs(expected))
          << static_cast<int>(kind) << " of " << input[i].item<double>();
    }
  }
}

TEST(Activation, ANanStaysOne) {
  for (const Kind kind : kKinds) {
    at::Tensor tensor = at::full({3}, std::numeric_limits<float>::quiet_NaN());
    apply({kind, -1, 1}, tensor);
    EXPECT_TRUE(tensor.isnan().all().item<bool>()) << static_cast<int>(kind);
  }
}

TEST(Activation, IsAppliedInPlaceInAnyLayout) {
  for (const Kind kind : kKinds) {
    const at::Tensor whole = at::randn({2, 8, 3, 4}).contiguous(at::MemoryFormat::ChannelsLast);
    const at::Tensor before = whole.clone();
    at::Tensor half = whole.narrow(1, 2, 4);
    apply({kind, -0.1F, 0.1F}, half);
    at::Tensor expected = before.narrow(1, 2, 4).contiguous();
    apply({kind, -0.1F, 0.1F}, expected);
    EXPECT_TRUE(whole.narrow(1, 2, 4).allclose(expected)) << static_cast<int>(kind);
    EXPECT_TRUE(whole.narrow(1, 0, 2).equal(before.narrow(1, 0, 2))) << "others stay";
    EXPECT_TRUE(whole.narrow(1, 6, 2).equal(before.narrow(1, 6, 2)));
  }
}

TEST(Activation, OfNothingIsNothing) {
  for (const Kind kind : kKinds) {
    at::Tensor empty = at::empty({0, 3});
    apply({kind, 0, 1}, empty);
    EXPECT_EQ(empty.numel(), 0);
  }
}

}  // namespace
}  // namespace pareto::runtime::kernels
