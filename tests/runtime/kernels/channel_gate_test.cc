#include "runtime/kernels/channel_gate.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "core/base/thread_pool.h"
#include "runtime/kernels/layer_weights.h"

namespace pareto::runtime::kernels {
namespace {

using Layer = c10::intrusive_ptr<PackedConvolution>;

ConvolutionSpec pointwise(std::int64_t out, std::int64_t in) {
  ConvolutionSpec spec;
  spec.weight = at::randn({out, in, 1, 1}) * 0.3;
  spec.stride = spec.dilation = {1, 1};
  spec.padding = {0, 0};
  spec.packed = std::make_shared<PackedWeights>();
  return spec;
}

/// Returns the factors by matrices in float64.
at::Tensor factors_by_matrices(const at::Tensor& means, const ConvolutionSpec& squeeze,
                               const ConvolutionSpec& excite) {
  at::Tensor values = means.to(at::kDouble);
  for (const ConvolutionSpec* const spec : {&squeeze, &excite}) {
    const at::Tensor& weight = spec->weight;
    values = at::mv(weight.view({weight.size(0), weight.size(1)}).to(at::kDouble), values);
    if (spec->bias.defined()) values = values + spec->bias.to(at::kDouble);
    apply(spec->activation, values);
  }
  return values.to(at::kFloat);
}

TEST(ChannelGate, IsTwoMatricesWithTheirActivations) {
  at::manual_seed(5);
  std::mt19937 random(5);
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    const PoolScope scope(&pool);
    for (int round = 0; round < 40; ++round) {
      // The last few have enough products to be shared.
      const bool large = round >= 36;
      const auto size = [&] {
        return static_cast<std::int64_t>(large ? 230 + random() % 60 : 1 + random() % 40);
      };
      const std::int64_t channels = size();
      const std::int64_t narrow = size();
      ConvolutionSpec squeeze = pointwise(narrow, channels);
      ConvolutionSpec excite = pointwise(channels, narrow);
      for (ConvolutionSpec* const spec : {&squeeze, &excite}) {
        spec->activation = {static_cast<Activation::Kind>(random() % 7), -0.5F, 0.75F};
        if (random() % 2 == 0) spec->bias = at::randn({spec->weight.size(0)});
      }
      const at::Tensor means = at::randn({channels});
      const at::Tensor expected = factors_by_matrices(means, squeeze, excite);
      ChannelGate gate(c10::make_intrusive<PackedConvolution>(squeeze),
                       c10::make_intrusive<PackedConvolution>(excite));
      gate.prepare();
      gate.prepare();  // once more changes nothing
      const at::Tensor factors = at::full({channels + 1}, -99.0);
      gate.run(means.data_ptr<float>(), factors.data_ptr<float>());
      EXPECT_TRUE(factors.narrow(0, 0, channels).allclose(expected, 1e-4, 1e-4))
          << channels << " and " << narrow << " channels on " << threads << " threads";
      EXPECT_EQ(factors[channels].item<float>(), -99) << "it writes no further";
    }
  }
}

TEST(ChannelGate, ItsLayersRunElsewhereAsBefore) {
  ConvolutionSpec squeeze = pointwise(3, 8);
  ConvolutionSpec excite = pointwise(8, 3);
  const at::Tensor weight = squeeze.weight.clone();
  const Layer first = c10::make_intrusive<PackedConvolution>(squeeze);
  ChannelGate gate(first, c10::make_intrusive<PackedConvolution>(excite));
  gate.prepare();
  EXPECT_TRUE(first->weights().plain().equal(weight)) << "packing loses nothing";
  const at::Tensor input = at::randn({2, 8, 3, 3}).contiguous(at::MemoryFormat::ChannelsLast);
  EXPECT_TRUE(first->run(input, {}).allclose(at::conv2d(input, weight), 1e-4, 1e-4));
}

TEST(ChannelGate, ANanInOneChannelIsInEveryFactor) {
  ConvolutionSpec squeeze = pointwise(2, 4);
  ConvolutionSpec excite = pointwise(4, 2);
  squeeze.activation.kind = Activation::Kind::kRelu;
  excite.activation.kind = Activation::Kind::kHardsigmoid;
  ChannelGate gate(c10::make_intrusive<PackedConvolution>(squeeze),
                   c10::make_intrusive<PackedConvolution>(excite));
  gate.prepare();
  at::Tensor means = at::ones({4});
  means[2] = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor factors = at::zeros({4});
  gate.run(means.data_ptr<float>(), factors.data_ptr<float>());
  EXPECT_TRUE(factors.isnan().all().item<bool>());
}

TEST(ChannelGate, OnlyPlainPointwiseLayersFit) {
  const auto fits = [](const auto& change) {
    ConvolutionSpec spec = pointwise(4, 4);
    change(spec);
    return ChannelGate::fits(PackedConvolution(spec));
  };
  EXPECT_TRUE(fits([](ConvolutionSpec&) {}));
  EXPECT_TRUE(fits([](ConvolutionSpec& spec) { spec.bias = at::ones({4}); }));
  EXPECT_TRUE(fits([](ConvolutionSpec& spec) { spec.dilation = {3, 3}; })) << "of one point";
  EXPECT_FALSE(fits([](ConvolutionSpec& spec) { spec.stride = {1, 2}; }));
  EXPECT_FALSE(fits([](ConvolutionSpec& spec) { spec.padding = {1, 0}; }));
  EXPECT_FALSE(fits([](ConvolutionSpec& spec) { spec.weight = at::ones({4, 4, 1, 2}); }));
  EXPECT_FALSE(fits([](ConvolutionSpec& spec) {
    spec.groups = 2;
    spec.weight = at::ones({4, 2, 1, 1});
  }));
}

}  // namespace
}  // namespace pareto::runtime::kernels
