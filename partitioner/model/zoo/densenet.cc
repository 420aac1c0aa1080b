#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/network.h"

namespace pareto::model::zoo {
namespace {

using Value = Network::Value;

constexpr std::int64_t kGrowth = 32;
constexpr std::int64_t kBottleneck = 4 * kGrowth;

/// Reads everything made before it in its block and adds kGrowth channels.
Value dense_layer(Network& net, const std::vector<Value>& before, const std::string& path,
                  std::int64_t channels) {
  Value x = net.concat(before, path);
  x = net.relu(net.batch_norm(x, path + ".norm1", channels), path + ".relu1");
  x = net.conv(x, path + ".conv1", {.in = channels, .out = kBottleneck});
  x = net.relu(net.batch_norm(x, path + ".norm2", kBottleneck), path + ".relu2");
  return net.conv(x, path + ".conv2",
                  {.in = kBottleneck, .out = kGrowth, .kernel = {3, 3}, .padding = {1, 1}});
}

Value transition(Network& net, Value x, const std::string& path, std::int64_t channels) {
  x = net.relu(net.batch_norm(x, path + ".norm", channels), path + ".relu");
  x = net.conv(x, path + ".conv", {.in = channels, .out = channels / 2});
  return net.avg_pool(x, path + ".pool", {});
}

}  // namespace

Flat build_densenet121(const Recipe& recipe) {
  Network net("densenet121", recipe.seed);
  constexpr std::array<int, 4> kLayers{6, 12, 24, 16};
  Value x = net.conv(net.input(), "features.conv0",
                     {.in = 3, .out = 64, .kernel = {7, 7}, .stride = {2, 2}, .padding = {3, 3}});
  x = net.relu(net.batch_norm(x, "features.norm0", 64), "features.relu0");
  x = net.max_pool(x, "features.pool0", {.kernel = 3, .stride = 2, .padding = 1});
  std::int64_t channels = 64;
  for (std::size_t block = 0; block < kLayers.size(); ++block) {
    const std::string path = "features.denseblock" + std::to_string(block + 1);
    std::vector<Value> made{x};
    for (int layer = 1; layer <= kLayers[block]; ++layer) {
      made.push_back(
          dense_layer(net, made, path + ".denselayer" + std::to_string(layer), channels));
      channels += kGrowth;
    }
    x = net.concat(made, path);
    if (block + 1 == kLayers.size()) break;
    x = transition(net, x, "features.transition" + std::to_string(block + 1), channels);
    channels /= 2;
  }
  x = net.relu(net.batch_norm(x, "features.norm5", channels), "");
  x = net.flatten(net.adaptive_avg_pool(x, "", 1));
  return net.finish(net.linear(x, "classifier", channels, recipe.num_classes));
}

}  // namespace pareto::model::zoo
