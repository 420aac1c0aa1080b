// Families of operators, and colours.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "client/report/graph/picture_svg.h"

namespace pareto::report::graph {
namespace {

struct Family {
  std::string_view name;
  std::string_view colour;
  /// Parts of titles, each enclosed by blanks.
  std::string_view kinds;
};

constexpr int kOtherFamily = 7;

constexpr std::array<Family, kFamilies> kAllFamilies{{
    {"convolution", "#1f6feb", " conv1d conv2d conv3d _convolution convolution conv_transpose2d "},
    {"product", "#7c4dd6",
     " linear matmul mm bmm addmm baddbmm einsum scaled_dot_product_attention "
     "_native_multi_head_attention "},
    {"norm", "#12866b", " batch_norm layer_norm group_norm instance_norm native_layer_norm "},
    {"activation", "#c2560c",
     " relu relu_ hardtanh hardtanh_ relu6 silu silu_ gelu sigmoid hardswish hardswish_ "
     "hardsigmoid softmax tanh elu leaky_relu "},
    {"pooling", "#b83280",
     " max_pool2d avg_pool2d adaptive_avg_pool2d mean sum upsample_bilinear2d "
     "upsample_nearest2d "},
    {"join", "#7d6c00", " add add_ cat stack mul mul_ sub div "},
    {"shape", "#0f7f86",
     " reshape view flatten permute transpose slice select chunk split unbind contiguous expand "
     "expand_as roll pad constant_pad_nd unsqueeze squeeze size "},
    {"other", "#8a94a3", ""},
}};

struct Rgb {
  double red, green, blue;
};

constexpr std::array<Rgb, 4> kRamp{
    {{255, 255, 255}, {255, 241, 204}, {252, 196, 128}, {241, 132, 98}}};

}  // namespace

int family_of(const PictureNode& node) {
  const std::string word = " " + node.main_kind + " ";
  for (int i = 0; i < kFamilies; ++i) {
    if (kAllFamilies[static_cast<std::size_t>(i)].kinds.find(word) != std::string_view::npos) {
      return i;
    }
  }
  return kOtherFamily;
}

std::vector<int> families_in(const GraphPicture& picture) {
  std::set<int> families;
  for (const PictureNode& node : picture.nodes) {
    if (!node.operators.empty()) families.insert(family_of(node));
  }
  return {families.begin(), families.end()};
}

std::string_view family_name(int family) {
  return kAllFamilies[static_cast<std::size_t>(family)].name;
}

std::string_view family_colour(int family) {
  return kAllFamilies[static_cast<std::size_t>(family)].colour;
}

double heat_share(double value, double largest) {
  return largest > 0 ? std::sqrt(std::clamp(value / largest, 0.0, 1.0)) : 0;
}

double largest_heat(const GraphPicture& picture, Heat heat) {
  double largest = 0;
  for (const PictureNode& node : picture.nodes) largest = std::max(largest, heat_of(node, heat));
  return largest;
}

std::string heat_colour(double share) {
  const double place = share * static_cast<double>(kRamp.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(place), kRamp.size() - 2);
  const double way = place - static_cast<double>(below);
  const auto mixed = [&](double Rgb::*part) {
    return static_cast<int>(
        std::lround(kRamp[below].*part * (1 - way) + kRamp[below + 1].*part * way));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(&Rgb::red), mixed(&Rgb::green),
                     mixed(&Rgb::blue));
}

}  // namespace pareto::report::graph
