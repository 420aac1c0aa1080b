#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/network.h"

namespace pareto::model::zoo {
namespace {

using Value = Network::Value;

/// Convolution, batch norm, relu: torchvision's BasicConv2d. The relu has no module of its own.
Value basic_conv(Network& net, Value x, const std::string& path, std::int64_t in, std::int64_t out,
                 std::int64_t kernel = 1, std::int64_t stride = 1, std::int64_t padding = 0) {
  x = conv_norm(net, x, path + ".conv", path + ".bn",
                {.in = in,
                 .out = out,
                 .kernel = {kernel, kernel},
                 .stride = {stride, stride},
                 .padding = {padding, padding}},
                1e-3);
  return net.relu(x, path);
}

struct Inception {
  const char* path;
  std::int64_t in, one, three_reduced, three, five_reduced, five, pool;
};

Value inception(Network& net, Value x, const Inception& spec) {
  const std::string path = spec.path;
  Value one = basic_conv(net, x, path + ".branch1", spec.in, spec.one);
  Value three = basic_conv(net, x, path + ".branch2.0", spec.in, spec.three_reduced);
  three = basic_conv(net, three, path + ".branch2.1", spec.three_reduced, spec.three, 3, 1, 1);
  Value five = basic_conv(net, x, path + ".branch3.0", spec.in, spec.five_reduced);
  // The paper's 5x5 is a 3x3 in the published weights.
  five = basic_conv(net, five, path + ".branch3.1", spec.five_reduced, spec.five, 3, 1, 1);
  Value pool =
      net.max_pool(x, path + ".branch4.0", {.kernel = 3, .stride = 1, .padding = 1, .ceil = true});
  pool = basic_conv(net, pool, path + ".branch4.1", spec.in, spec.pool);
  return net.concat({one, three, five, pool}, path);
}

}  // namespace

Flat build_googlenet(const Recipe& recipe) {
  Network net("googlenet", recipe.seed);
  const PoolSpec pool{.kernel = 3, .stride = 2, .ceil = true};
  Value x = basic_conv(net, net.input(), "conv1", 3, 64, 7, 2, 3);
  x = net.max_pool(x, "maxpool1", pool);
  x = basic_conv(net, x, "conv2", 64, 64);
  x = basic_conv(net, x, "conv3", 64, 192, 3, 1, 1);
  x = net.max_pool(x, "maxpool2", pool);
  x = inception(net, x, {"inception3a", 192, 64, 96, 128, 16, 32, 32});
  x = inception(net, x, {"inception3b", 256, 128, 128, 192, 32, 96, 64});
  x = net.max_pool(x, "maxpool3", pool);
  x = inception(net, x, {"inception4a", 480, 192, 96, 208, 16, 48, 64});
  x = inception(net, x, {"inception4b", 512, 160, 112, 224, 24, 64, 64});
  x = inception(net, x, {"inception4c", 512, 128, 128, 256, 24, 64, 64});
  x = inception(net, x, {"inception4d", 512, 112, 144, 288, 32, 64, 64});
  x = inception(net, x, {"inception4e", 528, 256, 160, 320, 32, 128, 128});
  x = net.max_pool(x, "maxpool4", {.kernel = 2, .stride = 2, .ceil = true});
  x = inception(net, x, {"inception5a", 832, 256, 160, 320, 32, 128, 128});
  x = inception(net, x, {"inception5b", 832, 384, 192, 384, 48, 128, 128});
  x = net.dropout(net.flatten(net.adaptive_avg_pool(x, "avgpool", 1)), "dropout", 0.2);
  return net.finish(net.linear(x, "fc", 1024, recipe.num_classes));
}

}  // namespace pareto::model::zoo
