#include "runtime/kernels/channel_gate.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/kernels/layer_weights.h"
#include "runtime/kernels/parts.h"
#include "runtime/kernels/picture_arithmetic.h"

namespace pareto::runtime::kernels {
namespace {

void apply_to(const Activation& activation, float* numbers, std::size_t count) {
  const auto each = [&](const auto& function) {
    std::transform(numbers, numbers + count, numbers, function);
  };
  // In this order a NaN stays one.
  const auto clamp = [](float x, float low, float high) {
    x = x < low ? low : x;
    return x > high ? high : x;
  };
  const auto hardsigmoid = [&](float x) { return clamp(x + 3, 0, 6) / 6; };
  switch (activation.kind) {
    case Activation::Kind::kNone:
      return;
    case Activation::Kind::kRelu:
      return each([](float x) { return x < 0 ? 0 : x; });
    case Activation::Kind::kClamp:
      return each([&](float x) { return clamp(x, activation.low, activation.high); });
    case Activation::Kind::kHardswish:
      return each([&](float x) { return x * hardsigmoid(x); });
    case Activation::Kind::kSilu:
      return silu(numbers, count);
    case Activation::Kind::kSigmoid:
      return sigmoid(numbers, count);
    case Activation::Kind::kHardsigmoid:
      return each(hardsigmoid);
  }
}

}  // namespace

bool ChannelGate::fits(const PackedConvolution& layer) {
  const ConvolutionSpec& spec = layer.spec();
  const auto is = [](const std::vector<std::int64_t>& pair, std::int64_t both) {
    return pair == std::vector<std::int64_t>{both, both};
  };
  const auto& sizes = layer.weight_sizes();
  return !spec.linear && spec.compute == at::kFloat && spec.groups == 1 && sizes[2] == 1 &&
         sizes[3] == 1 && is(spec.stride, 1) && is(spec.padding, 0);
}

ChannelGate::ChannelGate(c10::intrusive_ptr<PackedConvolution> squeeze,
                         c10::intrusive_ptr<PackedConvolution> excite)
    : squeeze_(layer_of(std::move(squeeze))), excite_(layer_of(std::move(excite))) {}

ChannelGate::Layer ChannelGate::layer_of(c10::intrusive_ptr<PackedConvolution> packed) {
  const auto& sizes = packed->weight_sizes();
  return {packed, static_cast<std::size_t>(sizes[1]), static_cast<std::size_t>(sizes[0])};
}

void ChannelGate::prepare() {
  pack(squeeze_);
  pack(excite_);
}

void ChannelGate::pack(Layer& layer) {
  if (layer.weights != nullptr) return;
  LayerWeights& weights = layer.packed->weights();
  const dnnl::memory::desc by_input(weights.dims(weights.all()), dnnl::memory::data_type::f32,
                                    dnnl::memory::format_tag::iohw);
  const dnnl::memory kept = weights.keep(weights.packed(by_input, weights.all()), weights.all());
  layer.weights = static_cast<const float*>(kept.get_data_handle());
  weights.drop_given(/*lossless=*/true);
}

void ChannelGate::run(const float* means, float* factors) const {
  std::vector<float> between(squeeze_.out);
  run_layer(squeeze_, means, between.data());
  run_layer(excite_, between.data(), factors);
}

void ChannelGate::run_layer(const Layer& layer, const float* input, float* result) {
  // Fewer products are done before another thread is awake.
  constexpr std::size_t kFewProducts = 50'000;
  const ConvolutionSpec& spec = layer.packed->spec();
  const int parts = layer.in * layer.out < kFewProducts ? 1 : kernel_threads();
  // Threads share cache lines at most where they begin and end.
  constexpr std::int64_t kBlock = 16;
  const auto blocks = (static_cast<std::int64_t>(layer.out) + kBlock - 1) / kBlock;
  share(parts, [&](int part) {
    const Share own = share_of(blocks, parts, part);
    const auto first = static_cast<std::size_t>(own.begin * kBlock);
    const std::size_t end = std::min(layer.out, static_cast<std::size_t>(own.end * kBlock));
    if (first >= end) return;
    if (spec.bias.defined()) {
      std::memcpy(result + first, spec.bias.data_ptr<float>() + first,
                  (end - first) * sizeof(float));
    } else {
      std::fill(result + first, result + end, 0.F);
    }
    add_products(input, layer.in, layer.weights + first, layer.out, end - first, result + first);
    apply_to(spec.activation, result + first, end - first);
  });
}

}  // namespace pareto::runtime::kernels
