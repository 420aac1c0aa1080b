#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/network.h"

namespace pareto::model::zoo {
namespace {

using Value = Network::Value;

constexpr Pair k1x1{1, 1};
constexpr Pair k3x3{3, 3};
constexpr Pair k5x5{5, 5};
constexpr Pair k1x7{1, 7};
constexpr Pair k7x1{7, 1};
constexpr Pair k1x3{1, 3};
constexpr Pair k3x1{3, 1};
constexpr PoolSpec kShrink{.kernel = 3, .stride = 2};
constexpr PoolSpec kSmooth{.kernel = 3, .stride = 1, .padding = 1};

/// One block under its module path; every convolution in it is a BasicConv2d of torchvision:
/// convolution, batch norm, relu.
class Block {
 public:
  Block(Network& net, std::string path) : net_(net), path_(std::move(path)) {}

  /// Padded so that the size stays, unless `stride` is 2.
  Value conv(Value x, const std::string& name, std::int64_t in, std::int64_t out,
             Pair kernel = k1x1, std::int64_t stride = 1) {
    const std::string path = path_ + "." + name;
    const Pair padding = stride == 1 ? Pair{(kernel[0] - 1) / 2, (kernel[1] - 1) / 2} : Pair{0, 0};
    return relu(
        x, path,
        {.in = in, .out = out, .kernel = kernel, .stride = {stride, stride}, .padding = padding});
  }
  Value pooled(Value x, std::int64_t in, std::int64_t out) {
    return conv(net_.avg_pool(x, path_, kSmooth), "branch_pool", in, out);
  }
  Value shrunk(Value x) { return net_.max_pool(x, path_, kShrink); }
  Value concat(const std::vector<Value>& values) { return net_.concat(values, path_); }

 private:
  Value relu(Value x, const std::string& path, const ConvSpec& spec) {
    return net_.relu(conv_norm(net_, x, path + ".conv", path + ".bn", spec, 1e-3), path);
  }
  Network& net_;
  std::string path_;
};

Value stem_conv(Network& net, Value x, const std::string& path, const ConvSpec& spec) {
  return net.relu(conv_norm(net, x, path + ".conv", path + ".bn", spec, 1e-3), path);
}

Value inception_a(Network& net, Value x, const std::string& path, std::int64_t in,
                  std::int64_t pool) {
  Block block(net, path);
  Value one = block.conv(x, "branch1x1", in, 64);
  Value five = block.conv(x, "branch5x5_1", in, 48);
  five = block.conv(five, "branch5x5_2", 48, 64, k5x5);
  Value three = block.conv(x, "branch3x3dbl_1", in, 64);
  three = block.conv(three, "branch3x3dbl_2", 64, 96, k3x3);
  three = block.conv(three, "branch3x3dbl_3", 96, 96, k3x3);
  return block.concat({one, five, three, block.pooled(x, in, pool)});
}

Value inception_b(Network& net, Value x, const std::string& path, std::int64_t in) {
  Block block(net, path);
  Value three = block.conv(x, "branch3x3", in, 384, k3x3, 2);
  Value twice = block.conv(x, "branch3x3dbl_1", in, 64);
  twice = block.conv(twice, "branch3x3dbl_2", 64, 96, k3x3);
  twice = block.conv(twice, "branch3x3dbl_3", 96, 96, k3x3, 2);
  return block.concat({three, twice, block.shrunk(x)});
}

Value inception_c(Network& net, Value x, const std::string& path, std::int64_t width) {
  constexpr std::int64_t kIn = 768;
  Block block(net, path);
  Value one = block.conv(x, "branch1x1", kIn, 192);
  Value seven = block.conv(x, "branch7x7_1", kIn, width);
  seven = block.conv(seven, "branch7x7_2", width, width, k1x7);
  seven = block.conv(seven, "branch7x7_3", width, 192, k7x1);
  Value twice = block.conv(x, "branch7x7dbl_1", kIn, width);
  twice = block.conv(twice, "branch7x7dbl_2", width, width, k7x1);
  twice = block.conv(twice, "branch7x7dbl_3", width, width, k1x7);
  twice = block.conv(twice, "branch7x7dbl_4", width, width, k7x1);
  twice = block.conv(twice, "branch7x7dbl_5", width, 192, k1x7);
  return block.concat({one, seven, twice, block.pooled(x, kIn, 192)});
}

Value inception_d(Network& net, Value x, const std::string& path, std::int64_t in) {
  Block block(net, path);
  Value three = block.conv(x, "branch3x3_1", in, 192);
  three = block.conv(three, "branch3x3_2", 192, 320, k3x3, 2);
  Value seven = block.conv(x, "branch7x7x3_1", in, 192);
  seven = block.conv(seven, "branch7x7x3_2", 192, 192, k1x7);
  seven = block.conv(seven, "branch7x7x3_3", 192, 192, k7x1);
  seven = block.conv(seven, "branch7x7x3_4", 192, 192, k3x3, 2);
  return block.concat({three, seven, block.shrunk(x)});
}

Value inception_e(Network& net, Value x, const std::string& path, std::int64_t in) {
  Block block(net, path);
  Value one = block.conv(x, "branch1x1", in, 320);
  Value three = block.conv(x, "branch3x3_1", in, 384);
  Value wide = block.conv(three, "branch3x3_2a", 384, 384, k1x3);
  Value tall = block.conv(three, "branch3x3_2b", 384, 384, k3x1);
  three = block.concat({wide, tall});
  Value twice = block.conv(x, "branch3x3dbl_1", in, 448);
  twice = block.conv(twice, "branch3x3dbl_2", 448, 384, k3x3);
  wide = block.conv(twice, "branch3x3dbl_3a", 384, 384, k1x3);
  tall = block.conv(twice, "branch3x3dbl_3b", 384, 384, k3x1);
  twice = block.concat({wide, tall});
  return block.concat({one, three, twice, block.pooled(x, in, 192)});
}

}  // namespace

Flat build_inceptionv3(const Recipe& recipe) {
  Network net("inceptionv3", recipe.seed);
  Value x = stem_conv(net, net.input(), "Conv2d_1a_3x3",
                      {.in = 3, .out = 32, .kernel = k3x3, .stride = {2, 2}});
  x = stem_conv(net, x, "Conv2d_2a_3x3", {.in = 32, .out = 32, .kernel = k3x3});
  x = stem_conv(net, x, "Conv2d_2b_3x3", {.in = 32, .out = 64, .kernel = k3x3, .padding = {1, 1}});
  x = net.max_pool(x, "maxpool1", kShrink);
  x = stem_conv(net, x, "Conv2d_3b_1x1", {.in = 64, .out = 80});
  x = stem_conv(net, x, "Conv2d_4a_3x3", {.in = 80, .out = 192, .kernel = k3x3});
  x = net.max_pool(x, "maxpool2", kShrink);
  x = inception_a(net, x, "Mixed_5b", 192, 32);
  x = inception_a(net, x, "Mixed_5c", 256, 64);
  x = inception_a(net, x, "Mixed_5d", 288, 64);
  x = inception_b(net, x, "Mixed_6a", 288);
  x = inception_c(net, x, "Mixed_6b", 128);
  x = inception_c(net, x, "Mixed_6c", 160);
  x = inception_c(net, x, "Mixed_6d", 160);
  x = inception_c(net, x, "Mixed_6e", 192);
  x = inception_d(net, x, "Mixed_7a", 768);
  x = inception_e(net, x, "Mixed_7b", 1280);
  x = inception_e(net, x, "Mixed_7c", 2048);
  x = net.flatten(net.dropout(net.adaptive_avg_pool(x, "avgpool", 1), "dropout", 0.5));
  return net.finish(net.linear(x, "fc", 2048, recipe.num_classes));
}

}  // namespace pareto::model::zoo
