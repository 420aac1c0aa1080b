// YOLOv8n: a detector. It finds boxes at three sizes of cells, 8, 16 and 32 pixels wide.
#include <algorithm>
#include <array>
#include <vector>

#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/network.h"

namespace pareto::model::zoo {
namespace {

using Value = Network::Value;

/// Sides of cells that boxes are found in, in pixels.
constexpr std::array<std::int64_t, 3> kCells{8, 16, 32};
/// Number of steps that a distance from a cell's middle to a side of its box is distributed over.
constexpr std::int64_t kSteps = 16;
constexpr std::int64_t kSidesOfBox = 4;

std::string module_of_yolo(int index) { return "model." + std::to_string(index); }

ConvSpec spec_of_yolo(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
  return {.in = in,
          .out = out,
          .kernel = {kernel, kernel},
          .stride = {stride, stride},
          .padding = {kernel / 2, kernel / 2}};
}

/// Convolution, batch norm, silu. The silu has no module of its own name in a state_dict.
Value conv_of_yolo(Network& net, Value x, const std::string& path, std::int64_t in,
                   std::int64_t out, std::int64_t kernel, std::int64_t stride = 1) {
  x = conv_norm(net, x, path + ".conv", path + ".bn", spec_of_yolo(in, out, kernel, stride), 1e-3,
                0.03);
  return net.silu(x, path + ".act");
}

void declare_conv_of_yolo(Network& net, const std::string& path, std::int64_t in, std::int64_t out,
                          std::int64_t kernel) {
  net.declare_conv(path + ".conv", spec_of_yolo(in, out, kernel, 1));
  net.declare_norm(path + ".bn", out);
}

struct PartsSpec {
  std::int64_t in;
  std::int64_t out;
  int repeats = 1;
  bool shortcut = false;
};

/// Half of the channels pass, the other half goes through blocks of two convolutions; all that is
/// made on the way is put together.
Value parts_of_yolo(Network& net, Value x, const std::string& path, const PartsSpec& spec) {
  const std::int64_t half = spec.out / 2;
  const std::int64_t together = (2 + spec.repeats) * half;
  x = conv_of_yolo(net, x, path + ".cv1", spec.in, 2 * half, 1);
  declare_conv_of_yolo(net, path + ".cv2", together, spec.out, 1);
  std::vector<Value> made{net.slice(x, path, 1, 0, half), net.slice(x, path, 1, half, 2 * half)};
  for (int i = 0; i < spec.repeats; ++i) {
    const std::string block = path + ".m." + std::to_string(i);
    Value y = conv_of_yolo(net, made.back(), block + ".cv1", half, half, 3);
    y = conv_of_yolo(net, y, block + ".cv2", half, half, 3);
    made.push_back(spec.shortcut ? net.add(made.back(), y, block) : y);
  }
  return conv_of_yolo(net, net.concat(made, path), path + ".cv2", together, spec.out, 1);
}

/// Spatial pyramid pooling: the maximum of neighbourhoods of 5, 9 and 13 places.
Value pooled_of_yolo(Network& net, Value x, const std::string& path, std::int64_t channels) {
  const std::int64_t half = channels / 2;
  x = conv_of_yolo(net, x, path + ".cv1", channels, half, 1);
  declare_conv_of_yolo(net, path + ".cv2", 4 * half, channels, 1);
  std::vector<Value> made{x};
  for (int i = 0; i < 3; ++i) {
    made.push_back(
        net.max_pool(made.back(), path + ".m", {.kernel = 5, .stride = 1, .padding = 2}));
  }
  return conv_of_yolo(net, net.concat(made, path), path + ".cv2", 4 * half, channels, 1);
}

/// Features of the three sizes of cells.
struct Pyramid {
  std::array<Value, 3> features;
  std::array<std::int64_t, 3> channels;
};

/// Two convolutions and a last one without norm, of one size of cells.
struct BranchOfYolo {
  std::string path;
  std::int64_t in, width, out;

  void declare(Network& net) const {
    declare_conv_of_yolo(net, path + ".0", in, width, 3);
    declare_conv_of_yolo(net, path + ".1", width, width, 3);
    net.declare_conv(path + ".2", {.in = width, .out = out, .bias = true});
  }
  Value add(Network& net, Value x) const {
    x = conv_of_yolo(net, x, path + ".0", in, width, 3);
    x = conv_of_yolo(net, x, path + ".1", width, width, 3);
    return net.conv(x, path + ".2", {.in = width, .out = out, .bias = true});
  }
};

/// Cells of all sizes, one after the other: middles in cells, and sides in pixels.
struct CellsOfPicture {
  at::Tensor middles;  ///< [2, cells], to the right and down
  at::Tensor sides;    ///< [1, cells]

  explicit CellsOfPicture(const Recipe& recipe) {
    std::vector<float> right;
    std::vector<float> down;
    std::vector<float> side;
    for (const std::int64_t cell : kCells) {
      for (std::int64_t y = 0; y < recipe.height / cell; ++y) {
        for (std::int64_t x = 0; x < recipe.width / cell; ++x) {
          right.push_back(static_cast<float>(x) + 0.5F);
          down.push_back(static_cast<float>(y) + 0.5F);
          side.push_back(static_cast<float>(cell));
        }
      }
    }
    middles = at::stack({at::tensor(right), at::tensor(down)});
    sides = at::tensor(side).unsqueeze(0);
  }
};

/// Turns distributions of distances, [B, 4·steps, cells], into boxes in pixels, [B, 4, cells]:
/// middle, width and height.
Value boxes_of_yolo(Network& net, Value x, const std::string& path, const CellsOfPicture& cells) {
  const std::string dfl = path + ".dfl";
  x = net.reshape(x, dfl, {-1, kSidesOfBox, kSteps, cells.sides.size(1)});
  x = net.apply(dfl, c10::aten::transpose, {x, 1, 2});
  x = net.apply(dfl, c10::aten::softmax, {x, 1, c10::IValue()});
  Value steps =
      net.frozen(dfl + ".conv.weight", at::arange(kSteps, at::kFloat).reshape({1, kSteps, 1, 1}));
  x = net.apply(dfl + ".conv", c10::aten::conv2d, {x, steps});
  x = net.apply(dfl, c10::aten::squeeze, {x, 1});
  const auto subtract = [&](Value a, Value b) { return net.apply(path, c10::aten::sub, {a, b}); };
  Value middles = net.buffer(path + ".anchors", cells.middles, false);
  Value first = subtract(middles, net.slice(x, path, 1, 0, 2));
  Value last = net.add(middles, net.slice(x, path, 1, 2, kSidesOfBox), path);
  Value middle = net.apply(path, c10::aten::div, {net.add(first, last, path), 2});
  x = net.concat({middle, subtract(last, first)}, path);
  return net.multiply(x, net.buffer(path + ".strides", cells.sides, false), path);
}

/// Returns [B, 4 + classes, cells]: a box and its scores, of each cell.
Value detections(Network& net, const Pyramid& found, const std::string& path,
                 const Recipe& recipe) {
  constexpr std::int64_t kWidthOfBoxes = 64;
  constexpr std::int64_t kOutputsOfBox = kSidesOfBox * kSteps;
  const std::int64_t classes = recipe.num_classes;
  const std::int64_t width = std::max(found.channels[0], std::min<std::int64_t>(classes, 100));
  std::vector<BranchOfYolo> boxes;
  std::vector<BranchOfYolo> scores;
  for (std::size_t i = 0; i < kCells.size(); ++i) {
    const std::string number = std::to_string(i);
    const std::int64_t in = found.channels[i];
    boxes.push_back({path + ".cv2." + number, in, kWidthOfBoxes, kOutputsOfBox});
    scores.push_back({path + ".cv3." + number, in, width, classes});
  }
  for (const BranchOfYolo& branch : boxes) branch.declare(net);
  for (const BranchOfYolo& branch : scores) branch.declare(net);
  std::vector<Value> all;
  for (std::size_t i = 0; i < kCells.size(); ++i) {
    Value feature = found.features[i];
    Value both = net.concat({boxes[i].add(net, feature), scores[i].add(net, feature)}, path);
    all.push_back(net.apply(path, c10::aten::flatten, {both, 2, 3}));
  }
  Value x = net.concat(all, path, 2);
  Value distances = net.slice(x, path, 1, 0, kOutputsOfBox);
  Value classes_of_cells = net.slice(x, path, 1, kOutputsOfBox, kOutputsOfBox + classes);
  Value box = boxes_of_yolo(net, distances, path, CellsOfPicture(recipe));
  return net.concat({box, net.sigmoid(classes_of_cells, path)}, path);
}

}  // namespace

Flat build_yolov8n(const Recipe& recipe) {
  Network net("yolov8n", recipe.seed);
  const auto conv = [&](int index, Value x, std::int64_t in, std::int64_t out) {
    return conv_of_yolo(net, x, module_of_yolo(index), in, out, 3, 2);
  };
  const auto parts = [&](int index, Value x, const PartsSpec& spec) {
    return parts_of_yolo(net, x, module_of_yolo(index), spec);
  };
  // Twice as large, and put together with what had that size on the way down.
  const auto enlarged = [&](int index, Value x, Value other, std::int64_t cell) {
    x = net.upsample_nearest(x, module_of_yolo(index), {recipe.height / cell, recipe.width / cell});
    return net.concat({x, other}, module_of_yolo(index + 1));
  };
  Value x = conv(1, conv(0, net.input(), 3, 16), 16, 32);
  x = parts(2, x, {.in = 32, .out = 32, .repeats = 1, .shortcut = true});
  Value eighth =
      parts(4, conv(3, x, 32, 64), {.in = 64, .out = 64, .repeats = 2, .shortcut = true});
  Value sixteenth =
      parts(6, conv(5, eighth, 64, 128), {.in = 128, .out = 128, .repeats = 2, .shortcut = true});
  x = parts(8, conv(7, sixteenth, 128, 256),
            {.in = 256, .out = 256, .repeats = 1, .shortcut = true});
  Value smallest = pooled_of_yolo(net, x, module_of_yolo(9), 256);
  Value middle = parts(12, enlarged(10, smallest, sixteenth, kCells[1]), {.in = 384, .out = 128});
  Value fine = parts(15, enlarged(13, middle, eighth, kCells[0]), {.in = 192, .out = 64});
  x = net.concat({conv(16, fine, 64, 64), middle}, module_of_yolo(17));
  middle = parts(18, x, {.in = 192, .out = 128});
  x = net.concat({conv(19, middle, 128, 128), smallest}, module_of_yolo(20));
  Value coarse = parts(21, x, {.in = 384, .out = 256});
  const Pyramid found{{fine, middle, coarse}, {64, 128, 256}};
  return net.finish(detections(net, found, module_of_yolo(22), recipe));
}

}  // namespace pareto::model::zoo
