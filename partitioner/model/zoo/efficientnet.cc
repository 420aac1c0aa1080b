#include <algorithm>
#include <array>

#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/network.h"

namespace pareto::model::zoo {
namespace {

using Value = Network::Value;

struct BlockOfB0 {
  std::int64_t in;
  std::int64_t kernel;
  std::int64_t expansion;
  std::int64_t out;
  std::int64_t stride;
};

/// Convolution, batch norm, silu as children 0, 1, 2 of `path`. The size stays, unless there is a
/// stride.
Value conv_norm_silu(Network& net, Value x, const std::string& path, ConvSpec spec) {
  spec.padding = {spec.kernel[0] / 2, spec.kernel[1] / 2};
  return net.silu(conv_norm(net, x, path + ".0", path + ".1", spec), path + ".2");
}

/// Squeeze and excitation: each channel scaled by what its mean over the picture says.
Value squeeze_excite_silu(Network& net, Value x, const std::string& path, std::int64_t channels,
                          std::int64_t squeezed) {
  Value scale = net.adaptive_avg_pool(x, path + ".avgpool", 1);
  scale = net.conv(scale, path + ".fc1", {.in = channels, .out = squeezed, .bias = true});
  scale = net.silu(scale, path + ".activation");
  scale = net.conv(scale, path + ".fc2", {.in = squeezed, .out = channels, .bias = true});
  return net.multiply(net.sigmoid(scale, path + ".scale_activation"), x, path);
}

/// Expand with 1x1, filter each channel, squeeze and excite, project with 1x1 and no activation; a
/// shortcut where shapes agree. The squeeze is of the channels before they are expanded.
Value inverted_residual_of_b0(Network& net, Value x, const std::string& path,
                              const BlockOfB0& block) {
  int child = 0;
  const auto next = [&] { return path + ".block." + std::to_string(child++); };
  const std::int64_t expanded = block.in * block.expansion;
  Value y = x;
  if (expanded != block.in) {
    y = conv_norm_silu(net, y, next(), {.in = block.in, .out = expanded});
  }
  y = conv_norm_silu(net, y, next(),
                     {.in = expanded,
                      .out = expanded,
                      .kernel = {block.kernel, block.kernel},
                      .stride = {block.stride, block.stride},
                      .groups = expanded});
  y = squeeze_excite_silu(net, y, next(), expanded, std::max<std::int64_t>(1, block.in / 4));
  const std::string project = next();
  y = conv_norm(net, y, project + ".0", project + ".1", {.in = expanded, .out = block.out});
  return block.stride == 1 && block.in == block.out ? net.add(y, x, path) : y;
}

}  // namespace

Flat build_efficientnet_b0(const Recipe& recipe) {
  struct Stage {
    std::int64_t expansion, kernel, stride, out, repeats;
  };
  constexpr std::array<Stage, 7> kStages{{{1, 3, 1, 16, 1},
                                          {6, 3, 2, 24, 2},
                                          {6, 5, 2, 40, 2},
                                          {6, 3, 2, 80, 3},
                                          {6, 5, 1, 112, 3},
                                          {6, 5, 2, 192, 4},
                                          {6, 3, 1, 320, 1}}};
  Network net("efficientnet_b0", recipe.seed);
  Value x = conv_norm_silu(net, net.input(), "features.0",
                           {.in = 3, .out = 32, .kernel = {3, 3}, .stride = {2, 2}});
  std::int64_t channels = 32;
  int feature = 1;
  for (const Stage& stage : kStages) {
    const std::string path = "features." + std::to_string(feature++) + ".";
    for (std::int64_t i = 0; i < stage.repeats; ++i) {
      x = inverted_residual_of_b0(
          net, x, path + std::to_string(i),
          {channels, stage.kernel, stage.expansion, stage.out, i == 0 ? stage.stride : 1});
      channels = stage.out;
    }
  }
  x = conv_norm_silu(net, x, "features." + std::to_string(feature),
                     {.in = channels, .out = 4 * channels});
  x = net.dropout(net.flatten(net.adaptive_avg_pool(x, "avgpool", 1)), "classifier.0", 0.2);
  return net.finish(net.linear(x, "classifier.1", 4 * channels, recipe.num_classes));
}

}  // namespace pareto::model::zoo
