#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/network.h"

namespace pareto::model::zoo {
namespace {

using Value = Network::Value;

constexpr double kEps = 1e-3;
constexpr double kMomentum = 0.01;

enum class Activation { kRelu, kHardswish };

struct BlockOfV3 {
  std::int64_t in;
  std::int64_t kernel;
  std::int64_t expanded;
  std::int64_t out;
  bool squeeze;
  Activation activation;
  std::int64_t stride;
};

/// Convolution, batch norm, activation as children 0, 1, 2 of `path`.
Value conv_act(Network& net, Value x, const std::string& path, const ConvSpec& spec,
               Activation activation) {
  x = conv_norm(net, x, path + ".0", path + ".1", spec, kEps, kMomentum);
  return activation == Activation::kRelu ? net.relu(x, path + ".2") : net.hardswish(x, path + ".2");
}

/// Rounds to the nearest multiple of 8, but never below 9/10 of the number (the paper's rule for
/// channels).
std::int64_t round_channels(std::int64_t channels) {
  const std::int64_t rounded = std::max<std::int64_t>(8, (channels + 4) / 8 * 8);
  return 10 * rounded < 9 * channels ? rounded + 8 : rounded;
}

/// Squeeze and excitation: each channel scaled by what its mean over the picture says.
Value squeeze_excite(Network& net, Value x, const std::string& path, std::int64_t channels) {
  const std::int64_t squeezed = round_channels(channels / 4);
  Value scale = net.adaptive_avg_pool(x, path + ".avgpool", 1);
  scale = net.conv(scale, path + ".fc1", {.in = channels, .out = squeezed, .bias = true});
  scale = net.relu(scale, path + ".activation");
  scale = net.conv(scale, path + ".fc2", {.in = squeezed, .out = channels, .bias = true});
  return net.multiply(net.hardsigmoid(scale, path + ".scale_activation"), x, path);
}

Value inverted_residual_v3(Network& net, Value x, const std::string& path, const BlockOfV3& block) {
  int child = 0;
  const auto next = [&] { return path + ".block." + std::to_string(child++); };
  Value y = x;
  if (block.expanded != block.in) {
    y = conv_act(net, y, next(), {.in = block.in, .out = block.expanded}, block.activation);
  }
  const std::int64_t padding = (block.kernel - 1) / 2;
  y = conv_act(net, y, next(),
               {.in = block.expanded,
                .out = block.expanded,
                .kernel = {block.kernel, block.kernel},
                .stride = {block.stride, block.stride},
                .padding = {padding, padding},
                .groups = block.expanded},
               block.activation);
  if (block.squeeze) y = squeeze_excite(net, y, next(), block.expanded);
  const std::string project = next();
  y = conv_norm(net, y, project + ".0", project + ".1", {.in = block.expanded, .out = block.out},
                kEps, kMomentum);
  return block.stride == 1 && block.in == block.out ? net.add(y, x, path) : y;
}

}  // namespace

Flat build_mobilenetv3_large(const Recipe& recipe) {
  constexpr Activation kRe = Activation::kRelu;
  constexpr Activation kHs = Activation::kHardswish;
  constexpr std::array<BlockOfV3, 15> kBlocks{{{16, 3, 16, 16, false, kRe, 1},
                                               {16, 3, 64, 24, false, kRe, 2},
                                               {24, 3, 72, 24, false, kRe, 1},
                                               {24, 5, 72, 40, true, kRe, 2},
                                               {40, 5, 120, 40, true, kRe, 1},
                                               {40, 5, 120, 40, true, kRe, 1},
                                               {40, 3, 240, 80, false, kHs, 2},
                                               {80, 3, 200, 80, false, kHs, 1},
                                               {80, 3, 184, 80, false, kHs, 1},
                                               {80, 3, 184, 80, false, kHs, 1},
                                               {80, 3, 480, 112, true, kHs, 1},
                                               {112, 3, 672, 112, true, kHs, 1},
                                               {112, 5, 672, 160, true, kHs, 2},
                                               {160, 5, 960, 160, true, kHs, 1},
                                               {160, 5, 960, 160, true, kHs, 1}}};
  Network net("mobilenetv3_large", recipe.seed);
  Value x =
      conv_act(net, net.input(), "features.0",
               {.in = 3, .out = 16, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}, kHs);
  int feature = 1;
  for (const BlockOfV3& block : kBlocks) {
    x = inverted_residual_v3(net, x, "features." + std::to_string(feature++), block);
  }
  x = conv_act(net, x, "features." + std::to_string(feature), {.in = 160, .out = 960}, kHs);
  x = net.flatten(net.adaptive_avg_pool(x, "avgpool", 1));
  x = net.hardswish(net.linear(x, "classifier.0", 960, 1280), "classifier.1");
  x = net.dropout(x, "classifier.2", 0.2);
  return net.finish(net.linear(x, "classifier.3", 1280, recipe.num_classes));
}

}  // namespace pareto::model::zoo
