#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/network.h"
#include "partitioner/model/zoo/resnet_trunk.h"

namespace pareto::model::zoo {
namespace {

using Value = Network::Value;

constexpr std::int64_t kWidthOfHead = 256;

/// Convolution, batch norm, relu as children `first` … `first` + 2 of `path`.
Value head_conv(Network& net, Value x, const std::string& path, int first, const ConvSpec& spec) {
  const auto child = [&](int index) { return path + "." + std::to_string(first + index); };
  return net.relu(conv_norm(net, x, child(0), child(1), spec), child(2));
}

/// Atrous spatial pyramid pooling: looks at the same place at several distances, and at the mean of
/// the whole picture. `size`: height and width of x.
Value pyramid(Network& net, Value x, const std::string& path, std::int64_t in, Pair size) {
  const std::string convs = path + ".convs.";
  std::vector<Value> seen{head_conv(net, x, convs + "0", 0, {.in = in, .out = kWidthOfHead})};
  for (const std::int64_t distance : {12, 24, 36}) {
    seen.push_back(head_conv(net, x, convs + std::to_string(seen.size()), 0,
                             {.in = in,
                              .out = kWidthOfHead,
                              .kernel = {3, 3},
                              .padding = {distance, distance},
                              .dilation = {distance, distance}}));
  }
  const std::string whole = convs + std::to_string(seen.size());
  Value mean = net.adaptive_avg_pool(x, whole + ".0", 1);
  mean = head_conv(net, mean, whole, 1, {.in = in, .out = kWidthOfHead});
  seen.push_back(net.upsample_bilinear(mean, whole, size));
  x = net.concat(seen, path);
  const auto width = static_cast<std::int64_t>(seen.size()) * kWidthOfHead;
  x = head_conv(net, x, path + ".project", 0, {.in = width, .out = kWidthOfHead});
  return net.dropout(x, path + ".project.3", 0.5);
}

/// Halves a side three times, as strides of 2 do that round up.
std::int64_t eighth(std::int64_t side) { return (side + 7) / 8; }

}  // namespace

Flat build_deeplabv3_resnet50(const Recipe& recipe) {
  Network net("deeplabv3_resnet50", recipe.seed);
  Value x = dilated_resnet50_trunk(net, "backbone.");
  x = pyramid(net, x, "classifier.0", 2048, {eighth(recipe.height), eighth(recipe.width)});
  x = head_conv(net, x, "classifier", 1,
                {.in = kWidthOfHead, .out = kWidthOfHead, .kernel = {3, 3}, .padding = {1, 1}});
  x = net.conv(x, "classifier.4", {.in = kWidthOfHead, .out = recipe.num_classes, .bias = true});
  return net.finish(net.upsample_bilinear(x, "", {recipe.height, recipe.width}));
}

}  // namespace pareto::model::zoo
