// Layers of many kinds and shapes, as code: what engines are compared on. Sees LibTorch.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/runtime/engines/written_module.h"

namespace pareto::test {

struct Layer {
  std::string code;              ///< the body of "run(self, x)"
  NamedTensors weights;          ///< by the names that the code has for them
  std::vector<std::int64_t> in;  ///< sizes of x without its batch
};

struct ConvolutionShape {
  std::int64_t in, out, groups;
  std::vector<std::int64_t> kernel, stride, padding, dilation;
};

inline std::string list(const std::vector<std::int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

/// Returns a convolution over pictures of 11 by 9, and what follows it: "y" is its result.
inline Layer convolution(const ConvolutionShape& shape, bool has_bias, const std::string& then) {
  const auto& [in, out, groups, kernel, stride, padding, dilation] = shape;
  const double scale = 1 / std::sqrt(static_cast<double>(in / groups * kernel[0] * kernel[1]));
  NamedTensors weights{{"w", at::randn({out, in / groups, kernel[0], kernel[1]}) * scale}};
  if (has_bias) weights.emplace_back("b", at::randn({out}));
  return {fmt::format("    y = torch.conv2d(x, self.w, {}, {}, {}, {}, {})\n    return ({},)\n",
                      has_bias ? "self.b" : "None", list(stride), list(padding), list(dilation),
                      groups, then),
          std::move(weights),
          {in, 11, 9}};
}

inline std::vector<Layer> convolution_layers() {
  // Odd channels, channels that fill no block, Winograd's sizes, one group for each channel.
  static const std::vector<ConvolutionShape> kShapes{
      {16, 32, 1, {1, 1}, {1, 1}, {0, 0}, {1, 1}},  {3, 7, 1, {3, 3}, {2, 2}, {1, 1}, {1, 1}},
      {32, 32, 1, {3, 3}, {1, 1}, {1, 1}, {1, 1}},  {16, 48, 1, {3, 3}, {1, 1}, {0, 2}, {1, 1}},
      {17, 33, 1, {1, 1}, {1, 1}, {0, 0}, {1, 1}},  {5, 3, 1, {5, 3}, {2, 1}, {2, 1}, {1, 1}},
      {13, 13, 13, {3, 3}, {1, 1}, {1, 1}, {1, 1}}, {24, 24, 24, {5, 5}, {2, 2}, {2, 2}, {1, 1}},
      {9, 15, 3, {3, 1}, {1, 2}, {1, 0}, {1, 1}},   {24, 40, 8, {3, 3}, {1, 1}, {1, 1}, {1, 1}},
      {6, 10, 2, {3, 3}, {1, 1}, {2, 2}, {2, 2}},   {4, 8, 1, {3, 2}, {3, 1}, {0, 3}, {2, 3}},
      {8, 1, 1, {1, 1}, {2, 3}, {1, 1}, {1, 1}},    {1, 9, 1, {2, 2}, {1, 1}, {3, 3}, {1, 1}}};
  static const std::vector<std::string> kThen{"y",
                                              "torch.relu(y)",
                                              "torch.relu_(y)",
                                              "torch.hardtanh(y, 0., 6.)",
                                              "torch.hardtanh(y, -1., 0.5)",
                                              "torch.clamp(y, 0., 1.)",
                                              "torch.hardswish(y)",
                                              "torch.hardsigmoid(y)",
                                              "torch.sigmoid(y) * y",
                                              "torch.silu(y)",
                                              "torch.gelu(y)",
                                              "torch.relu(y + y * 0.5)",
                                              "torch.hardswish(torch.add(y, y.mean([2, 3], True)))",
                                              "torch.hardsigmoid(torch.max_pool2d(y, [1, 1]))",
                                              "torch.leaky_relu(y, 0.1) - 1"};
  std::vector<Layer> layers;
  for (const ConvolutionShape& shape : kShapes) {
    for (std::size_t i = 0; i < kThen.size(); ++i) {
      layers.push_back(convolution(shape, i % 2 == 0, kThen[i]));
    }
    // A sum with another convolution's result, of the same sizes.
    layers.push_back(convolution(shape, true,
                                 "torch.relu(y + torch.conv2d(x, self.w, None, " +
                                     list(shape.stride) + ", " + list(shape.padding) + ", " +
                                     list(shape.dilation) + ", " + std::to_string(shape.groups) +
                                     "))"));
  }
  return layers;
}

inline std::vector<Layer> pooling_layers() {
  std::vector<Layer> layers;
  for (const char* const pooling :
       {"torch.max_pool2d(x, [2, 2])", "torch.max_pool2d(x, [3, 2], [2, 1], [1, 0])",
        "torch.max_pool2d(x, [3, 3], [2, 2], [1, 1], [1, 1], True)",
        "torch.max_pool2d(x, [2, 2], [1, 1], [0, 0], [2, 3])",
        "torch.avg_pool2d(x, [3, 2], [1, 2], [1, 1])",
        "torch.avg_pool2d(x, [3, 3], [2, 2], [1, 1], True)",
        "torch.avg_pool2d(x, [3, 3], [2, 2], [1, 1], False, False)",
        "torch.avg_pool2d(x, [2, 2], [2, 2], [0, 0], False, True, 3)",
        "torch.adaptive_avg_pool2d(x, [3, 2])", "torch.adaptive_avg_pool2d(x, [1, 1]).flatten(1)",
        "torch.adaptive_max_pool2d(x, [2, 3])[0]", "x.mean([2, 3])"}) {
    for (const std::int64_t channels : {1, 5, 16}) {
      // A layer that every engine can prepare something of.
      layers.push_back({fmt::format("    x = torch.conv2d(x, self.w)\n    return ({},)\n", pooling),
                        {{"w", at::randn({channels, channels, 1, 1})}},
                        {channels, 11, 9}});
    }
  }
  return layers;
}

inline std::vector<Layer> other_layers() {
  const auto w = [](at::IntArrayRef sizes) { return at::randn(sizes) * 0.3; };
  return {
      {"    return (torch.linear(x, self.w, self.b),)\n", {{"w", w({7, 5})}, {"b", w({7})}}, {5}},
      {"    return (torch.hardswish(torch.linear(x, self.w)),)\n", {{"w", w({33, 17})}}, {17}},
      {"    return (torch.relu(torch.linear(x, self.w, self.b) + x),)\n",
       {{"w", w({9, 9})}, {"b", w({9})}},
       {3, 9}},
      {"    y = torch.linear(x, self.w)\n    return (torch.softmax(y.matmul(y.transpose(1, 2)), "
       "-1),)\n",
       {{"w", w({6, 4})}},
       {5, 4}},
      {"    y = torch.layer_norm(torch.linear(x, self.w), [6], self.g, self.b)\n    return (y,)\n",
       {{"w", w({6, 4})}, {"g", w({6})}, {"b", w({6})}},
       {3, 4}},
      {"    y = torch.conv2d(x, self.w)\n"
       "    y = torch.batch_norm(y, self.g, self.b, self.m, self.v, False, 0.1, 1e-3, True)\n"
       "    return (torch.hardtanh(y, 0., 6.),)\n",
       {{"w", w({7, 3, 2, 2})},
        {"g", w({7})},
        {"b", w({7})},
        {"m", w({7})},
        {"v", at::rand({7}) + 0.5}},
       {3, 6, 5}},
      {"    y = torch.conv2d(x, self.w)\n    z = torch.conv2d(x, self.v)\n"
       "    return (torch.cat([y, x, torch.relu(z)], 1), y.permute([0, 2, 3, 1]))\n",
       {{"w", w({3, 5, 1, 1})}, {"v", w({8, 5, 1, 1})}},
       {5, 7, 6}},
      {"    y = torch.conv_transpose2d(x, self.w, self.b, [2, 2], [1, 0], [1, 0])\n"
       "    return (torch.conv2d(y, self.v),)\n",
       {{"w", w({4, 6, 3, 2})}, {"b", w({6})}, {"v", w({3, 6, 1, 1})}},
       {4, 5, 6}},
      {"    y = torch.conv1d(x, self.w, self.b, [2], [1])\n    return (torch.linear(y, self.v),)\n",
       {{"w", w({6, 3, 3})}, {"b", w({6})}, {"v", w({2, 4})}},
       {3, 8}},
      {"    y = torch.conv3d(x, self.w, self.b, [1, 2, 1], [1, 0, 1])\n"
       "    return (torch.linear(torch.hardswish(y), self.v),)\n",
       {{"w", w({5, 3, 3, 2, 1})}, {"b", w({5})}, {"v", w({2, 5})}},
       {3, 4, 5, 3}},
      {"    y = torch.conv2d(x, self.w)\n"
       "    s = torch.hardsigmoid(torch.conv2d(torch.adaptive_avg_pool2d(y, [1, 1]), self.v))\n"
       "    return (torch.hardswish(y * s), s)\n",
       {{"w", w({20, 6, 1, 1})}, {"v", w({20, 20, 1, 1})}},
       {6, 5, 7}}};
}

}  // namespace pareto::test
