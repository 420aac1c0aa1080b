#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/network.h"
#include "partitioner/model/zoo/resnet_trunk.h"

namespace pareto::model::zoo {
namespace {

using Value = Network::Value;

struct ResidualBlock {
  std::int64_t in;
  std::int64_t width;
  std::int64_t stride;
  std::int64_t dilation = 1;  ///< dilation of a bottleneck's 3x3 convolution
};

/// Returns the shortcut: the input itself, or projected where shape changes.
Value shortcut(Network& net, Value x, const std::string& path, const ResidualBlock& block,
               std::int64_t out) {
  if (block.stride == 1 && block.in == out) return x;
  return conv_norm(net, x, path + ".downsample.0", path + ".downsample.1",
                   {.in = block.in, .out = out, .stride = {block.stride, block.stride}});
}

Value basic_block(Network& net, Value x, const std::string& path, const ResidualBlock& block) {
  const std::int64_t out = block.width;
  Value y = conv_norm(net, x, path + ".conv1", path + ".bn1",
                      {.in = block.in,
                       .out = out,
                       .kernel = {3, 3},
                       .stride = {block.stride, block.stride},
                       .padding = {1, 1}});
  y = net.relu(y, path + ".relu");
  y = conv_norm(net, y, path + ".conv2", path + ".bn2",
                {.in = out, .out = out, .kernel = {3, 3}, .padding = {1, 1}});
  y = net.add(y, shortcut(net, x, path, block, out), path);
  return net.relu(y, path + ".relu");
}

Value bottleneck(Network& net, Value x, const std::string& path, const ResidualBlock& block) {
  const std::int64_t out = 4 * block.width;
  Value y = conv_norm(net, x, path + ".conv1", path + ".bn1", {.in = block.in, .out = block.width});
  y = net.relu(y, path + ".relu");
  y = conv_norm(net, y, path + ".conv2", path + ".bn2",
                {.in = block.width,
                 .out = block.width,
                 .kernel = {3, 3},
                 .stride = {block.stride, block.stride},
                 .padding = {block.dilation, block.dilation},
                 .dilation = {block.dilation, block.dilation}});
  y = net.relu(y, path + ".relu");
  y = conv_norm(net, y, path + ".conv3", path + ".bn3", {.in = block.width, .out = out});
  y = net.add(y, shortcut(net, x, path, block, out), path);
  return net.relu(y, path + ".relu");
}

struct Variant {
  std::array<int, 4> blocks;
  Value (*block)(Network&, Value, const std::string&, const ResidualBlock&);
  std::int64_t expansion;
  bool dilated = false;  ///< the last two layers keep the size, and look further
};

constexpr Variant k18{{2, 2, 2, 2}, basic_block, 1};
constexpr Variant k50{{3, 4, 6, 3}, bottleneck, 4};

/// Returns what the last layer makes.
Value trunk(Network& net, const std::string& prefix, const Variant& variant) {
  Value x = conv_norm(net, net.input(), prefix + "conv1", prefix + "bn1",
                      {.in = 3, .out = 64, .kernel = {7, 7}, .stride = {2, 2}, .padding = {3, 3}});
  x = net.max_pool(net.relu(x, prefix + "relu"), prefix + "maxpool",
                   {.kernel = 3, .stride = 2, .padding = 1});
  std::int64_t channels = 64;
  std::int64_t dilation = 1;
  for (std::size_t layer = 0; layer < variant.blocks.size(); ++layer) {
    const std::int64_t width = std::int64_t{64} << layer;
    const bool keeps_size = layer == 0 || (variant.dilated && layer >= 2);
    for (int i = 0; i < variant.blocks[layer]; ++i) {
      const std::string path =
          prefix + "layer" + std::to_string(layer + 1) + "." + std::to_string(i);
      x = variant.block(net, x, path, {channels, width, i > 0 || keeps_size ? 1 : 2, dilation});
      channels = width * variant.expansion;
      // The first block looks as far as the layer before it.
      if (i == 0 && layer > 0 && keeps_size) dilation *= 2;
    }
  }
  return x;
}

Flat classifier(const std::string& name, const Variant& variant, const Recipe& recipe) {
  Network net(name, recipe.seed);
  Value x = trunk(net, "", variant);
  x = net.flatten(net.adaptive_avg_pool(x, "avgpool", 1));
  return net.finish(net.linear(x, "fc", 512 * variant.expansion, recipe.num_classes));
}

}  // namespace

Value dilated_resnet50_trunk(Network& net, const std::string& prefix) {
  Variant dilated = k50;
  dilated.dilated = true;
  return trunk(net, prefix, dilated);
}

Flat build_resnet18(const Recipe& recipe) { return classifier("resnet18", k18, recipe); }

Flat build_resnet50(const Recipe& recipe) { return classifier("resnet50", k50, recipe); }

}  // namespace pareto::model::zoo
