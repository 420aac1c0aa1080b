#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/network.h"

namespace pareto::model {
namespace {

using Value = Network::Value;

struct ResidualBlock {
  std::int64_t in;
  std::int64_t width;
  std::int64_t stride;
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
                 .padding = {1, 1}});
  y = net.relu(y, path + ".relu");
  y = conv_norm(net, y, path + ".conv3", path + ".bn3", {.in = block.width, .out = out});
  y = net.add(y, shortcut(net, x, path, block, out), path);
  return net.relu(y, path + ".relu");
}

struct Variant {
  const char* name;
  std::array<int, 4> blocks;
  Value (*block)(Network&, Value, const std::string&, const ResidualBlock&);
  std::int64_t expansion;
};

Flat build(const Variant& variant, const ModelOptions& options) {
  Network net(variant.name, options.seed);
  Value x = conv_norm(net, net.input(), "conv1", "bn1",
                      {.in = 3, .out = 64, .kernel = {7, 7}, .stride = {2, 2}, .padding = {3, 3}});
  x = net.max_pool(net.relu(x, "relu"), "maxpool", {.kernel = 3, .stride = 2, .padding = 1});
  std::int64_t channels = 64;
  for (std::size_t layer = 0; layer < variant.blocks.size(); ++layer) {
    const std::int64_t width = std::int64_t{64} << layer;
    for (int i = 0; i < variant.blocks[layer]; ++i) {
      const std::string path = "layer" + std::to_string(layer + 1) + "." + std::to_string(i);
      x = variant.block(net, x, path, {channels, width, layer > 0 && i == 0 ? 2 : 1});
      channels = width * variant.expansion;
    }
  }
  x = net.flatten(net.adaptive_avg_pool(x, "avgpool", 1));
  return net.finish(net.linear(x, "fc", channels, options.num_classes));
}

}  // namespace

Flat build_resnet18(const ModelOptions& options) {
  return build({"resnet18", {2, 2, 2, 2}, basic_block, 1}, options);
}

Flat build_resnet50(const ModelOptions& options) {
  return build({"resnet50", {3, 4, 6, 3}, bottleneck, 4}, options);
}

}  // namespace pareto::model
