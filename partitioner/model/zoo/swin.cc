#include <algorithm>

#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/network.h"
#include "partitioner/model/zoo/transformer.h"

namespace pareto::model::zoo {
namespace {

using Value = Network::Value;

constexpr std::int64_t kSide = 7;  ///< side of a window
constexpr std::int64_t kTokensOfWindow = kSide * kSide;
constexpr std::int64_t kPatchOfSwin = 4;
/// Uniform numbers of this bound have torchvision's standard deviation of such weights, 0.02.
constexpr double kBiasBound = 0.0346;

std::int64_t rounded_up(std::int64_t number, std::int64_t to) {
  return (number + to - 1) / to * to;
}

/// Values [B, height, width, channels] on their way through a stage.
struct StageOfSwin {
  std::int64_t height;
  std::int64_t width;
  std::int64_t channels;
  std::int64_t heads;
};

/// Windows over padded values, which lie half a window further in every other block.
struct Windows {
  std::int64_t rows;     ///< windows from top to bottom
  std::int64_t columns;  ///< windows from left to right
  Pair shift;            ///< places that values are rolled by, down and to the right

  static Windows of(const StageOfSwin& stage, bool shifted) {
    const auto along = [](std::int64_t size) { return rounded_up(size, kSide) / kSide; };
    // One window sees all: there is nothing to shift.
    const auto shift = [&](std::int64_t windows) { return shifted && windows > 1 ? kSide / 2 : 0; };
    const std::int64_t rows = along(stage.height);
    const std::int64_t columns = along(stage.width);
    return {rows, columns, {shift(rows), shift(columns)}};
  }
  std::int64_t count() const { return rows * columns; }
  bool is_shifted() const { return shift[0] + shift[1] > 0; }
};

/// Returns the row of the table of biases for each pair of a window's places: it depends on how far
/// they are apart.
at::Tensor relative_places() {
  at::Tensor index = at::empty({kTokensOfWindow * kTokensOfWindow}, at::kLong);
  auto* row = index.data_ptr<std::int64_t>();
  for (std::int64_t from = 0; from < kTokensOfWindow; ++from) {
    for (std::int64_t to = 0; to < kTokensOfWindow; ++to) {
      const std::int64_t down = from / kSide - to / kSide + kSide - 1;
      const std::int64_t right = from % kSide - to % kSide + kSide - 1;
      *row++ = down * (2 * kSide - 1) + right;
    }
  }
  return index;
}

/// Returns what is added to scores of shifted windows, [windows, 1, places, places]: values that
/// were rolled in from the other side are no neighbours, and get -100.
at::Tensor mask_of(const Windows& windows) {
  const auto region = [](std::int64_t at, std::int64_t size, std::int64_t shift) {
    return shift == 0 || at < size - kSide ? 0 : at < size - shift ? 1 : 2;
  };
  at::Tensor mask = at::empty({windows.count(), 1, kTokensOfWindow, kTokensOfWindow}, at::kFloat);
  auto* cell = mask.data_ptr<float>();
  for (std::int64_t window = 0; window < windows.count(); ++window) {
    const auto region_of = [&](std::int64_t place) {
      const std::int64_t down = window / windows.columns * kSide + place / kSide;
      const std::int64_t right = window % windows.columns * kSide + place % kSide;
      return 3 * region(down, windows.rows * kSide, windows.shift[0]) +
             region(right, windows.columns * kSide, windows.shift[1]);
    };
    for (std::int64_t from = 0; from < kTokensOfWindow; ++from) {
      for (std::int64_t to = 0; to < kTokensOfWindow; ++to) {
        *cell++ = region_of(from) == region_of(to) ? 0.0F : -100.0F;
      }
    }
  }
  return mask;
}

/// Pads values at the bottom and on the right.
Value padded(Network& net, Value x, const std::string& path, std::int64_t down,
             std::int64_t right) {
  if (down == 0 && right == 0) return x;
  return net.apply(path, c10::aten::constant_pad_nd,
                   {x, std::vector<std::int64_t>{0, 0, 0, right, 0, down}, 0});
}

Value rolled(Network& net, Value x, const std::string& path, Pair shift) {
  return net.apply(
      path, c10::aten::roll,
      {x, std::vector<std::int64_t>{shift[0], shift[1]}, std::vector<std::int64_t>{1, 2}});
}

/// Cuts padded values into windows: [B·windows, places, channels].
Value into_windows(Network& net, Value x, const std::string& path, const Windows& windows,
                   std::int64_t channels) {
  x = net.reshape(x, path, {-1, windows.rows, kSide, windows.columns, kSide, channels});
  x = net.permute(x, path, {0, 1, 3, 2, 4, 5});
  return net.reshape(x, path, {-1, kTokensOfWindow, channels});
}

Value out_of_windows(Network& net, Value x, const std::string& path, const Windows& windows,
                     std::int64_t channels) {
  x = net.reshape(x, path, {-1, windows.rows, windows.columns, kSide, kSide, channels});
  x = net.permute(x, path, {0, 1, 3, 2, 4, 5});
  return net.reshape(x, path, {-1, windows.rows * kSide, windows.columns * kSide, channels});
}

/// Returns the learned bias of scores, [1, heads, places, places].
Value bias_of_places(Network& net, const std::string& path, std::int64_t heads) {
  constexpr std::int64_t kDistances = (2 * kSide - 1) * (2 * kSide - 1);
  Value table =
      net.parameter(path + ".relative_position_bias_table", {kDistances, heads}, kBiasBound);
  Value index = net.buffer(path + ".relative_position_index", relative_places());
  Value bias = net.apply(path, c10::aten::index_select, {table, 0, index});
  bias = net.reshape(bias, path, {1, kTokensOfWindow, kTokensOfWindow, heads});
  bias = net.permute(bias, path, {0, 3, 1, 2});
  return net.apply(path, c10::aten::contiguous, {bias});
}

/// Attention inside windows. `stage_path`: blocks of a stage share one mask.
Value window_attention(Network& net, Value x, const std::string& path, const StageOfSwin& stage,
                       const Windows& windows, const std::string& stage_path) {
  Value bias = bias_of_places(net, path, stage.heads);
  const std::int64_t height = windows.rows * kSide;
  const std::int64_t width = windows.columns * kSide;
  x = padded(net, x, path, height - stage.height, width - stage.width);
  if (windows.is_shifted()) x = rolled(net, x, path, {-windows.shift[0], -windows.shift[1]});
  x = into_windows(net, x, path, windows, stage.channels);
  x = net.linear(x, path + ".qkv", stage.channels, 3 * stage.channels);
  const auto change_scores = [&](Value scores) {
    scores = net.add(scores, bias, path);
    if (!windows.is_shifted()) return scores;
    // Constant for this size of picture: no checkpoint holds it.
    Value mask = net.buffer(stage_path + ".attention_mask", mask_of(windows), false);
    scores = net.reshape(scores, path,
                         {-1, windows.count(), stage.heads, kTokensOfWindow, kTokensOfWindow});
    scores = net.add(scores, mask, path);
    return net.reshape(scores, path, {-1, stage.heads, kTokensOfWindow, kTokensOfWindow});
  };
  x = attention(net, x, path,
                {.tokens = kTokensOfWindow, .width = stage.channels, .heads = stage.heads},
                change_scores);
  x = net.linear(x, path + ".proj", stage.channels, stage.channels);
  x = out_of_windows(net, x, path, windows, stage.channels);
  if (windows.is_shifted()) x = rolled(net, x, path, windows.shift);
  if (height > stage.height) x = net.slice(x, path, 1, 0, stage.height);
  if (width > stage.width) x = net.slice(x, path, 2, 0, stage.width);
  return x;
}

Value block_of_swin(Network& net, Value x, const std::string& stage_path, int index,
                    const StageOfSwin& stage) {
  const std::string path = stage_path + "." + std::to_string(index);
  const Windows windows = Windows::of(stage, index % 2 == 1);
  Value y = net.layer_norm(x, path + ".norm1", stage.channels);
  y = window_attention(net, y, path + ".attn", stage, windows, stage_path);
  x = net.add(x, y, path);
  y = net.layer_norm(x, path + ".norm2", stage.channels);
  return net.add(x, two_linear_layers(net, y, path + ".mlp", stage.channels), path);
}

/// Puts four neighbours together, the one below before the one on the right, and halves their
/// channels. Changes the stage to what comes out.
Value merged_patches(Network& net, Value x, const std::string& path, StageOfSwin& stage) {
  const std::int64_t channels = stage.channels;
  net.declare_linear(path + ".reduction", 4 * channels, 2 * channels, false);
  x = padded(net, x, path, stage.height % 2, stage.width % 2);
  stage = {(stage.height + 1) / 2, (stage.width + 1) / 2, 2 * channels, 2 * stage.heads};
  x = net.reshape(x, path, {-1, stage.height, 2, stage.width, 2, channels});
  x = net.permute(x, path, {0, 1, 3, 4, 2, 5});
  x = net.reshape(x, path, {-1, stage.height, stage.width, 4 * channels});
  x = net.layer_norm(x, path + ".norm", 4 * channels);
  return net.linear(x, path + ".reduction", 4 * channels, 2 * channels, false);
}

}  // namespace

Flat build_swin_t(const Recipe& recipe) {
  constexpr std::array<int, 4> kBlocks{2, 2, 6, 2};
  Network net("swin_t", recipe.seed);
  StageOfSwin stage{recipe.height / kPatchOfSwin, recipe.width / kPatchOfSwin, 96, 3};
  Value x = net.conv(net.input(), "features.0.0",
                     {.in = 3,
                      .out = stage.channels,
                      .kernel = {kPatchOfSwin, kPatchOfSwin},
                      .stride = {kPatchOfSwin, kPatchOfSwin},
                      .bias = true});
  x = net.permute(x, "features.0.1", {0, 2, 3, 1});
  x = net.layer_norm(x, "features.0.2", stage.channels);
  int feature = 1;
  for (std::size_t i = 0; i < kBlocks.size(); ++i) {
    if (i > 0) x = merged_patches(net, x, "features." + std::to_string(feature++), stage);
    const std::string path = "features." + std::to_string(feature++);
    for (int block = 0; block < kBlocks[i]; ++block) x = block_of_swin(net, x, path, block, stage);
  }
  x = net.layer_norm(x, "norm", stage.channels);
  x = net.permute(x, "permute", {0, 3, 1, 2});
  x = net.flatten(net.adaptive_avg_pool(x, "avgpool", 1));
  return net.finish(net.linear(x, "head", stage.channels, recipe.num_classes));
}

}  // namespace pareto::model::zoo
