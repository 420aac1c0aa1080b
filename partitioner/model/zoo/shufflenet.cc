#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/network.h"

namespace pareto::model::zoo {
namespace {

using Value = Network::Value;

/// A sequence of layers under `path`, which are numbered as they are added.
class NumberedLayers {
 public:
  NumberedLayers(Network& net, Value x, std::string path)
      : net_(net), x_(x), path_(std::move(path)) {}

  NumberedLayers& conv(const ConvSpec& spec) {
    const std::string conv = next();
    x_ = conv_norm(net_, x_, conv, next(), spec);
    return *this;
  }
  /// Filters each channel with 3x3.
  NumberedLayers& depthwise(std::int64_t channels, std::int64_t stride) {
    return conv({.in = channels,
                 .out = channels,
                 .kernel = {3, 3},
                 .stride = {stride, stride},
                 .padding = {1, 1},
                 .groups = channels});
  }
  NumberedLayers& relu() {
    x_ = net_.relu(x_, next());
    return *this;
  }
  Value value() const { return x_; }

 private:
  std::string next() { return path_ + "." + std::to_string(child_++); }

  Network& net_;
  Value x_;
  std::string path_;
  int child_ = 0;
};

/// Puts two halves together and shuffles the channels: one of the left, one of the right, and so
/// on. Both steps are one copy here.
Value shuffled(Network& net, Value left, Value right, const std::string& path) {
  return net.apply(path, c10::aten::flatten, {net.stack({left, right}, path, 2), 1, 2});
}

/// Half of the channels pass, the other half is filtered. With a stride of 2 all are filtered, in
/// two ways.
Value shuffle_unit(Network& net, Value x, const std::string& path, std::int64_t in,
                   std::int64_t out) {
  const bool shrinks = in != out;
  const std::int64_t half = out / 2;
  Value left = nullptr;
  Value right = x;
  if (shrinks) {
    left = NumberedLayers(net, x, path + ".branch1")
               .depthwise(in, 2)
               .conv({.in = in, .out = half})
               .relu()
               .value();
  } else {
    left = net.slice(x, path, 1, 0, half);
    right = net.slice(x, path, 1, half, out);
  }
  right = NumberedLayers(net, right, path + ".branch2")
              .conv({.in = shrinks ? in : half, .out = half})
              .relu()
              .depthwise(half, shrinks ? 2 : 1)
              .conv({.in = half, .out = half})
              .relu()
              .value();
  return shuffled(net, left, right, path);
}

}  // namespace

Flat build_shufflenet_v2(const Recipe& recipe) {
  struct Stage {
    std::int64_t out, repeats;
  };
  constexpr std::array<Stage, 3> kStages{{{116, 4}, {232, 8}, {464, 4}}};
  Network net("shufflenet_v2", recipe.seed);
  Value x = NumberedLayers(net, net.input(), "conv1")
                .conv({.in = 3, .out = 24, .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}})
                .relu()
                .value();
  x = net.max_pool(x, "maxpool", {.kernel = 3, .stride = 2, .padding = 1});
  std::int64_t channels = 24;
  for (std::size_t stage = 0; stage < kStages.size(); ++stage) {
    const std::string path = "stage" + std::to_string(stage + 2) + ".";
    for (std::int64_t i = 0; i < kStages[stage].repeats; ++i) {
      x = shuffle_unit(net, x, path + std::to_string(i), channels, kStages[stage].out);
      channels = kStages[stage].out;
    }
  }
  x = NumberedLayers(net, x, "conv5").conv({.in = channels, .out = 1024}).relu().value();
  x = net.apply("", c10::aten::mean, {x, std::vector<std::int64_t>{2, 3}});
  return net.finish(net.linear(x, "fc", 1024, recipe.num_classes));
}

}  // namespace pareto::model::zoo
