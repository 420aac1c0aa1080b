#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/network.h"

namespace pareto::model::zoo {
namespace {

using Value = Network::Value;

/// Squeeze to few channels, expand with 1x1 and 3x3 side by side.
Value fire(Network& net, Value x, const std::string& path, std::int64_t in, std::int64_t squeeze,
           std::int64_t expand) {
  x = net.conv(x, path + ".squeeze", {.in = in, .out = squeeze, .bias = true});
  x = net.relu(x, path + ".squeeze_activation");
  Value one = net.conv(x, path + ".expand1x1", {.in = squeeze, .out = expand, .bias = true});
  one = net.relu(one, path + ".expand1x1_activation");
  Value three =
      net.conv(x, path + ".expand3x3",
               {.in = squeeze, .out = expand, .kernel = {3, 3}, .padding = {1, 1}, .bias = true});
  three = net.relu(three, path + ".expand3x3_activation");
  return net.concat({one, three}, path);
}

}  // namespace

Flat build_squeezenet1_0(const Recipe& recipe) {
  Network net("squeezenet1_0", recipe.seed);
  const PoolSpec pool{.kernel = 3, .stride = 2, .ceil = true};
  Value x = net.conv(net.input(), "features.0",
                     {.in = 3, .out = 96, .kernel = {7, 7}, .stride = {2, 2}, .bias = true});
  x = net.max_pool(net.relu(x, "features.1"), "features.2", pool);
  x = fire(net, x, "features.3", 96, 16, 64);
  x = fire(net, x, "features.4", 128, 16, 64);
  x = fire(net, x, "features.5", 128, 32, 128);
  x = net.max_pool(x, "features.6", pool);
  x = fire(net, x, "features.7", 256, 32, 128);
  x = fire(net, x, "features.8", 256, 48, 192);
  x = fire(net, x, "features.9", 384, 48, 192);
  x = fire(net, x, "features.10", 384, 64, 256);
  x = net.max_pool(x, "features.11", pool);
  x = fire(net, x, "features.12", 512, 64, 256);
  x = net.conv(net.dropout(x, "classifier.0", 0.5), "classifier.1",
               {.in = 512, .out = recipe.num_classes, .bias = true});
  x = net.adaptive_avg_pool(net.relu(x, "classifier.2"), "classifier.3", 1);
  return net.finish(net.flatten(x));
}

}  // namespace pareto::model::zoo
