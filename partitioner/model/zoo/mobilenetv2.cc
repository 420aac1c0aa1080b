#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/network.h"

namespace pareto::model::zoo {
namespace {

using Value = Network::Value;

/// Convolution, batch norm, relu6 as children 0, 1, 2 of `path`.
Value conv_norm_relu6(Network& net, Value x, const std::string& path, const ConvSpec& spec) {
  return net.relu6(conv_norm(net, x, path + ".0", path + ".1", spec), path + ".2");
}

struct BlockOfV2 {
  std::int64_t in;
  std::int64_t out;
  std::int64_t stride;
  std::int64_t expansion;
};

/// Expand with 1x1, filter each channel with 3x3, project with 1x1 and no activation; a shortcut
/// where shapes agree.
Value inverted_residual_v2(Network& net, Value x, const std::string& path, const BlockOfV2& block) {
  const std::string conv = path + ".conv.";
  const std::int64_t hidden = block.in * block.expansion;
  int child = 0;
  Value y = x;
  if (block.expansion != 1) {
    y = conv_norm_relu6(net, y, conv + std::to_string(child++), {.in = block.in, .out = hidden});
  }
  y = conv_norm_relu6(net, y, conv + std::to_string(child++),
                      {.in = hidden,
                       .out = hidden,
                       .kernel = {3, 3},
                       .stride = {block.stride, block.stride},
                       .padding = {1, 1},
                       .groups = hidden});
  y = conv_norm(net, y, conv + std::to_string(child), conv + std::to_string(child + 1),
                {.in = hidden, .out = block.out});
  return block.stride == 1 && block.in == block.out ? net.add(x, y, path) : y;
}

}  // namespace

Flat build_mobilenetv2(const Recipe& recipe) {
  Network net("mobilenetv2", recipe.seed);
  Value x =
      conv_norm_relu6(net, net.input(), "features.0",
                      {.in = 3, .out = 32, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
  struct Row {
    std::int64_t expansion, channels, repeats, stride;
  };
  constexpr std::array<Row, 7> kRows{{{1, 16, 1, 1},
                                      {6, 24, 2, 2},
                                      {6, 32, 3, 2},
                                      {6, 64, 4, 2},
                                      {6, 96, 3, 1},
                                      {6, 160, 3, 2},
                                      {6, 320, 1, 1}}};
  std::int64_t channels = 32;
  int feature = 1;
  for (const Row& row : kRows) {
    for (std::int64_t i = 0; i < row.repeats; ++i) {
      x = inverted_residual_v2(net, x, "features." + std::to_string(feature++),
                               {channels, row.channels, i == 0 ? row.stride : 1, row.expansion});
      channels = row.channels;
    }
  }
  x = conv_norm_relu6(net, x, "features." + std::to_string(feature), {.in = channels, .out = 1280});
  x = net.dropout(net.flatten(net.adaptive_avg_pool(x, "", 1)), "classifier.0", 0.2);
  return net.finish(net.linear(x, "classifier.1", 1280, recipe.num_classes));
}

}  // namespace pareto::model::zoo
