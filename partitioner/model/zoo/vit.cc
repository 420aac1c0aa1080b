#include <cmath>

#include "partitioner/model/zoo/builders.h"
#include "partitioner/model/zoo/network.h"
#include "partitioner/model/zoo/transformer.h"

namespace pareto::model::zoo {
namespace {

using Value = Network::Value;

constexpr std::int64_t kPatchOfVit = 16;
constexpr std::int64_t kWidthOfVit = 768;
constexpr double kEpsOfVit = 1e-6;
/// Uniform numbers of this bound have torchvision's standard deviation of such weights, 0.02.
constexpr double kEmbeddingBound = 0.0346;

/// Attention of all tokens and two linear layers, each with a norm before it and a shortcut around
/// it.
Value encoder_layer_of_vit(Network& net, Value x, const std::string& path, std::int64_t tokens) {
  const std::string attention_path = path + ".self_attention";
  Value y = net.layer_norm(x, path + ".ln_1", kWidthOfVit, kEpsOfVit);
  Value weight = net.parameter(attention_path + ".in_proj_weight", {3 * kWidthOfVit, kWidthOfVit},
                               std::sqrt(3.0 / kWidthOfVit));
  Value bias = net.parameter(attention_path + ".in_proj_bias", {3 * kWidthOfVit}, kEmbeddingBound);
  y = net.apply(attention_path, c10::aten::linear, {y, weight, bias});
  y = attention(net, y, attention_path, {.tokens = tokens, .width = kWidthOfVit, .heads = 12});
  y = net.linear(y, attention_path + ".out_proj", kWidthOfVit, kWidthOfVit);
  x = net.add(y, x, path);
  y = net.layer_norm(x, path + ".ln_2", kWidthOfVit, kEpsOfVit);
  return net.add(x, two_linear_layers(net, y, path + ".mlp", kWidthOfVit), path);
}

}  // namespace

Flat build_vit_b_16(const Recipe& recipe) {
  constexpr int kLayers = 12;
  const std::int64_t tokens = (recipe.height / kPatchOfVit) * (recipe.width / kPatchOfVit) + 1;
  Network net("vit_b_16", recipe.seed);
  Value token = net.parameter("class_token", {1, 1, kWidthOfVit}, kEmbeddingBound);
  Value x = net.conv(net.input(), "conv_proj",
                     {.in = 3,
                      .out = kWidthOfVit,
                      .kernel = {kPatchOfVit, kPatchOfVit},
                      .stride = {kPatchOfVit, kPatchOfVit},
                      .bias = true});
  x = net.permute(net.apply("", c10::aten::flatten, {x, 2, 3}), "", {0, 2, 1});
  token = net.apply("", c10::aten::expand_as, {token, net.slice(x, "", 1, 0, 1)});
  x = net.concat({token, x}, "", 1);
  Value places = net.parameter("encoder.pos_embedding", {1, tokens, kWidthOfVit}, kEmbeddingBound);
  x = net.add(x, places, "encoder");
  for (int i = 0; i < kLayers; ++i) {
    x = encoder_layer_of_vit(net, x, "encoder.layers.encoder_layer_" + std::to_string(i), tokens);
  }
  x = net.layer_norm(x, "encoder.ln", kWidthOfVit, kEpsOfVit);
  x = net.apply("", c10::aten::select, {x, 1, 0});
  return net.finish(net.linear(x, "heads.head", kWidthOfVit, recipe.num_classes));
}

}  // namespace pareto::model::zoo
