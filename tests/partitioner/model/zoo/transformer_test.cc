#include "partitioner/model/zoo/transformer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <cmath>
#include <functional>

namespace pareto::model::zoo {
namespace {

/// Runs what `build` makes of an input. Returns the result, and the weights that it got.
std::pair<at::Tensor, std::vector<FlatWeight>> result_of(
    const std::function<Network::Value(Network&)>& build, const at::Tensor& input) {
  Network net("test", 3);
  const Flat flat = net.finish(build(net));
  torch::jit::Stack stack{input};
  for (const FlatWeight& weight : flat.weights) stack.emplace_back(weight.tensor);
  torch::jit::InterpreterState(torch::jit::Code(flat.graph, "run")).run(stack);
  return {stack.back().toTensor(), flat.weights};
}

/// Returns attention of one sample after the other, head by head, token by token, in float64.
at::Tensor attention_by_hand(const at::Tensor& qkv, const AttentionSpec& spec,
                             const at::Tensor& added) {
  const std::int64_t head = spec.width / spec.heads;
  at::Tensor result = at::zeros({qkv.size(0), spec.tokens, spec.width}, at::kDouble);
  const at::Tensor all = qkv.to(at::kDouble);
  for (std::int64_t sample = 0; sample < qkv.size(0); ++sample) {
    for (std::int64_t h = 0; h < spec.heads; ++h) {
      const auto part = [&](std::int64_t kind, std::int64_t token) {
        return all[sample][token].narrow(0, kind * spec.width + h * head, head);
      };
      for (std::int64_t to = 0; to < spec.tokens; ++to) {
        at::Tensor scores = at::zeros({spec.tokens}, at::kDouble);
        for (std::int64_t from = 0; from < spec.tokens; ++from) {
          scores[from] = part(0, to).dot(part(1, from)) / std::sqrt(static_cast<double>(head));
          if (added.defined()) scores[from] += added[to][from];
        }
        const at::Tensor shares = at::softmax(scores, 0);
        for (std::int64_t from = 0; from < spec.tokens; ++from) {
          result[sample][to].narrow(0, h * head, head) += shares[from] * part(2, from);
        }
      }
    }
  }
  return result.to(at::kFloat);
}

TEST(Attention, IsThatOfEachHead) {
  at::manual_seed(1);
  for (const AttentionSpec& spec : {AttentionSpec{1, 4, 1}, AttentionSpec{5, 6, 1},
                                    AttentionSpec{5, 6, 3}, AttentionSpec{4, 8, 8}}) {
    for (const std::int64_t batch : {1, 3}) {
      const at::Tensor qkv = at::randn({batch, spec.tokens, 3 * spec.width});
      const auto [found, weights] =
          result_of([&](Network& net) { return attention(net, net.input(), "attn", spec); }, qkv);
      EXPECT_TRUE(weights.empty()) << "projections are not part of it";
      ASSERT_EQ(found.sizes(), (std::vector<std::int64_t>{batch, spec.tokens, spec.width}));
      EXPECT_TRUE(found.allclose(attention_by_hand(qkv, spec, {}), 1e-4, 1e-5)) << spec.heads;
    }
  }
}

TEST(Attention, ScoresMayBeChanged) {
  const AttentionSpec spec{4, 6, 2};
  const at::Tensor qkv = at::randn({2, 4, 18});
  const at::Tensor added = at::randn({4, 4});
  const auto [found, weights] = result_of(
      [&](Network& net) {
        return attention(net, net.input(), "attn", spec, [&](Network::Value scores) {
          return net.add(scores, net.buffer("mask", added), "attn");
        });
      },
      qkv);
  EXPECT_EQ(weights.size(), 1U);
  EXPECT_TRUE(found.allclose(attention_by_hand(qkv, spec, added), 1e-4, 1e-5));
}

TEST(TwoLinearLayers, HaveGeluBetweenThem) {
  const at::Tensor x = at::randn({2, 5, 6});
  const auto [found, weights] =
      result_of([](Network& net) { return two_linear_layers(net, net.input(), "mlp", 6); }, x);
  ASSERT_EQ(weights.size(), 4U);
  EXPECT_EQ(weights[0].name, "mlp.0.weight");
  EXPECT_EQ(weights[2].name, "mlp.3.weight");
  EXPECT_EQ(weights[0].tensor.sizes(), (std::vector<std::int64_t>{24, 6}));
  const at::Tensor expected =
      at::linear(at::gelu(at::linear(x, weights[0].tensor, weights[1].tensor)), weights[2].tensor,
                 weights[3].tensor);
  EXPECT_TRUE(found.allclose(expected, 1e-5, 1e-6));
}

}  // namespace
}  // namespace pareto::model::zoo
