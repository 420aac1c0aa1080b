// The models that are plain chains of layers: AlexNet and VGG-16.
#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/network.h"

namespace pareto::model::zoo {
namespace {

using Value = Network::Value;

std::string feature(int index) { return "features." + std::to_string(index); }

}  // namespace

Flat build_alexnet(const Recipe& recipe) {
  Network net("alexnet", recipe.seed);
  struct Row {
    ConvSpec conv;
    bool pool;
  };
  const auto conv = [](std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                       std::int64_t padding) {
    return ConvSpec{.in = in,
                    .out = out,
                    .kernel = {kernel, kernel},
                    .stride = {stride, stride},
                    .padding = {padding, padding},
                    .bias = true};
  };
  const std::array<Row, 5> rows{{{conv(3, 64, 11, 4, 2), true},
                                 {conv(64, 192, 5, 1, 2), true},
                                 {conv(192, 384, 3, 1, 1), false},
                                 {conv(384, 256, 3, 1, 1), false},
                                 {conv(256, 256, 3, 1, 1), true}}};
  Value x = net.input();
  int child = 0;
  for (const Row& row : rows) {
    x = net.conv(x, feature(child++), row.conv);
    x = net.relu(x, feature(child++));
    if (row.pool) x = net.max_pool(x, feature(child++), {.kernel = 3, .stride = 2});
  }
  x = net.dropout(net.flatten(net.adaptive_avg_pool(x, "avgpool", 6)), "classifier.0", 0.5);
  x = net.relu(net.linear(x, "classifier.1", 256 * 6 * 6, 4096), "classifier.2");
  x = net.dropout(x, "classifier.3", 0.5);
  x = net.relu(net.linear(x, "classifier.4", 4096, 4096), "classifier.5");
  return net.finish(net.linear(x, "classifier.6", 4096, recipe.num_classes));
}

Flat build_vgg16(const Recipe& recipe) {
  Network net("vgg16", recipe.seed);
  constexpr std::int64_t kPool = 0;
  constexpr std::array<std::int64_t, 18> kLayers{64,  64,    kPool, 128,   128, kPool,
                                                 256, 256,   256,   kPool, 512, 512,
                                                 512, kPool, 512,   512,   512, kPool};
  Value x = net.input();
  std::int64_t channels = 3;
  int child = 0;
  for (const std::int64_t out : kLayers) {
    if (out == kPool) {
      x = net.max_pool(x, feature(child++), {});
      continue;
    }
    x = net.conv(x, feature(child++),
                 {.in = channels, .out = out, .kernel = {3, 3}, .padding = {1, 1}, .bias = true});
    x = net.relu(x, feature(child++));
    channels = out;
  }
  x = net.flatten(net.adaptive_avg_pool(x, "avgpool", 7));
  x = net.relu(net.linear(x, "classifier.0", 512 * 7 * 7, 4096), "classifier.1");
  x = net.dropout(x, "classifier.2", 0.5);
  x = net.relu(net.linear(x, "classifier.3", 4096, 4096), "classifier.4");
  x = net.dropout(x, "classifier.5", 0.5);
  return net.finish(net.linear(x, "classifier.6", 4096, recipe.num_classes));
}

}  // namespace pareto::model::zoo
