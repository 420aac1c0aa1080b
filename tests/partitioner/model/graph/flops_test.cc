// Operations of operators against counting them one by one.
#include "partitioner/model/graph/flops.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/partitioner/model/graph/flattened.h"

namespace pareto::model {
namespace {

/// FLOPs of the first operator of a kind in a method, run on these inputs.
double flops_in(const std::string& expression, const std::vector<at::Tensor>& tensors,
                const std::string& kind) {
  std::string arguments;
  for (std::size_t i = 0; i < tensors.size(); ++i) arguments += ", t" + std::to_string(i);
  const auto module = test::scripted(
      "Flops", "\ndef forward(self" + arguments + "):\n    return " + expression + "\n");
  const auto graph = test::graph_of(module);
  const auto nodes = nodes_of_kind(graph->block(), c10::Symbol::fromQualString("aten::" + kind));
  EXPECT_EQ(nodes.size(), 1U) << expression;
  std::vector<c10::IValue> inputs;
  for (torch::jit::Value* input : nodes.at(0)->inputs()) {
    const auto constant = torch::jit::toIValue(input);
    if (constant) {
      inputs.push_back(*constant);
    } else if (input->node() == graph->param_node()) {
      inputs.emplace_back(tensors.at(input->offset() - 1));
    } else {
      std::vector<std::int64_t> numbers;  // a list written in the code
      for (torch::jit::Value* item : input->node()->inputs()) {
        if (item->node() == graph->param_node()) {
          c10::List<at::Tensor> list;
          for (torch::jit::Value* one : input->node()->inputs()) {
            list.push_back(tensors.at(one->offset() - 1));
          }
          inputs.emplace_back(list);
          break;
        }
        numbers.push_back(torch::jit::toIValue(item)->toInt());
      }
      if (!numbers.empty()) inputs.emplace_back(numbers);
    }
  }
  std::vector<c10::IValue> arguments_of_run(tensors.begin(), tensors.end());
  const std::vector<c10::IValue> outputs{test::interpreted(graph, module, arguments_of_run)};
  return flops_of(nodes.at(0), inputs, outputs);
}

TEST(Flops, OfConvolutionsAreThoseOfTheirLoops) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 60; ++i) {
    const auto number = [&](std::uint64_t most) {
      return static_cast<std::int64_t>(1 + random() % most);
    };
    const std::int64_t groups = number(3);
    const std::int64_t in = groups * number(3);
    const std::int64_t out = groups * number(3);
    const std::int64_t kernel = number(3);
    const std::int64_t stride = number(2);
    const at::Tensor x = at::randn({number(2), in, number(4) + 3, number(4) + 3});
    const at::Tensor w = at::randn({out, in / groups, kernel, kernel});
    const std::string expression = "torch.conv2d(t0, t1, None, " + std::to_string(stride) +
                                   ", 0, 1, " + std::to_string(groups) + ")";
    double loops = 0;
    const auto result = at::conv2d(x, w, {}, c10::IntArrayRef({stride, stride}),
                                   c10::IntArrayRef({0, 0}), c10::IntArrayRef({1, 1}), groups);
    for (std::int64_t element = 0; element < result.numel(); ++element) {
      for (std::int64_t channel = 0; channel < in / groups; ++channel) {
        loops += 2 * static_cast<double>(kernel * kernel);
      }
    }
    ASSERT_EQ(flops_in(expression, {x, w}, "conv2d"), loops) << i;
  }
}

TEST(Flops, OfMatrixProductsAreThoseOfTheirLoops) {
  const at::Tensor a = at::randn({3, 4, 5});
  const at::Tensor b = at::randn({3, 5, 6});
  EXPECT_EQ(flops_in("torch.matmul(t0, t1)", {a, b}, "matmul"), 2.0 * 3 * 4 * 5 * 6);
  EXPECT_EQ(flops_in("torch.bmm(t0, t1)", {a, b}, "bmm"), 2.0 * 3 * 4 * 5 * 6);
  EXPECT_EQ(flops_in("torch.mm(t0, t1)", {a[0], b[0]}, "mm"), 2.0 * 4 * 5 * 6);
  EXPECT_EQ(flops_in("torch.mv(t0, t1)", {a[0], b[0].t()[0]}, "mv"), 2.0 * 4 * 5);
  EXPECT_EQ(flops_in("torch.dot(t0, t1)", {a[0][0], a[0][1]}, "dot"), 2.0 * 5);
  EXPECT_EQ(flops_in("torch.addmm(t2, t0, t1)", {a[0], b[0], at::randn({6})}, "addmm"),
            2.0 * 4 * 5 * 6 + 4 * 6);
  EXPECT_EQ(flops_in("torch.linear(t0, t1, t2)", {a, at::randn({7, 5}), at::randn({7})}, "linear"),
            (2.0 * 5 + 1) * 3 * 4 * 7);
}

TEST(Flops, OfElementwiseOperatorsGrowWithTheirElements) {
  for (const auto& [expression, kind] : std::vector<std::pair<std::string, std::string>>{
           {"torch.relu(t0)", "relu"},
           {"torch.sigmoid(t0)", "sigmoid"},
           {"torch.gelu(t0)", "gelu"},
           {"torch.softmax(t0, 1)", "softmax"},
           {"torch.mul(t0, t0)", "mul"},
           {"torch.hardswish(t0)", "hardswish"},
           {"torch.sum(t0)", "sum"},
           {"torch.max_pool2d(t0, [2, 2], [2, 2])", "max_pool2d"}}) {
    const double once = flops_in(expression, {at::randn({1, 2, 4, 6})}, kind);
    EXPECT_GT(once, 0) << kind;
    EXPECT_EQ(flops_in(expression, {at::randn({3, 2, 4, 6})}, kind), 3 * once) << kind;
  }
}

TEST(Flops, OfWhatOnlyMovesDataAreNone) {
  const at::Tensor x = at::randn({2, 4, 6});
  EXPECT_EQ(flops_in("t0.transpose(1, 2)", {x}, "transpose"), 0);
  EXPECT_EQ(flops_in("t0.contiguous()", {x}, "contiguous"), 0);
  EXPECT_EQ(flops_in("t0.reshape([2, 24])", {x}, "reshape"), 0);
  EXPECT_EQ(flops_in("torch.cat([t0, t1], 1)", {x, x}, "cat"), 0);
}

TEST(Flops, OfNothingAreNothing) {
  const at::Tensor none = at::randn({0, 4});
  EXPECT_EQ(flops_in("torch.relu(t0)", {none}, "relu"), 0);
  EXPECT_EQ(flops_in("torch.linear(t0, t1)", {none, at::randn({3, 4})}, "linear"), 0);
  EXPECT_EQ(flops_in("torch.matmul(t0, t1)", {at::randn({2, 0}), at::randn({0, 3})}, "matmul"), 0);
}

TEST(Flops, OfEinsumAreItsCombinations) {
  const at::Tensor a = at::randn({2, 3, 4});
  const at::Tensor b = at::randn({2, 4, 5});
  EXPECT_EQ(flops_in("torch.einsum(\"bij,bjk->bik\", [t0, t1])", {a, b}, "einsum"),
            2.0 * 2 * 3 * 4 * 5);
  EXPECT_EQ(flops_in("torch.einsum(\"...ij,...jk->...ik\", [t0, t1])", {a, b}, "einsum"),
            2.0 * 2 * 3 * 4 * 5);
  EXPECT_EQ(flops_in("torch.einsum(\"bij->b\", [t0])", {a}, "einsum"), 2.0 * 2 * 3 * 4);
}

TEST(Flops, OfRecurrentLayersAndSumsOfProducts) {
  torch::manual_seed(1);
  torch::jit::Module module("__torch__.Recurrent");
  for (const auto& [name, sizes] : std::vector<std::pair<std::string, std::vector<std::int64_t>>>{
           {"w_ih", {20, 3}}, {"w_hh", {20, 5}}, {"b_ih", {20}}, {"b_hh", {20}}}) {
    module.register_parameter(name, torch::randn(sizes), false);
  }
  module.define(R"(
def forward(self, x):
    h = torch.zeros([1, x.size(0), 5])
    y, a, b = torch.lstm(x, [h, h], [self.w_ih, self.w_hh, self.b_ih, self.b_hh], True, 1, 0.0, False, False, True)
    return torch.einsum("bth,bsh->bts", [y, y])
)");
  const auto model = test::open(module, "7x3");
  ASSERT_TRUE(model) << model.error().message;
  std::map<std::string, double> flops;
  for (const Operator& op : model->graph().operators) flops[op.kind] = op.flops_per_sample;
  EXPECT_DOUBLE_EQ(flops["aten::lstm"], 2 * 7 * (20 * 3 + 20 * 5));
  EXPECT_DOUBLE_EQ(flops["aten::einsum"], 2 * 7 * 7 * 5);
}

TEST(Flops, OfCellsFusedLayersAndDimensionsNotSpeltOut) {
  torch::manual_seed(1);
  torch::jit::Module module("__torch__.Cells");
  for (const auto& [name, sizes] :
       std::vector<std::pair<std::string, std::vector<std::int64_t>>>{{"qkv", {24, 8}},
                                                                      {"qkv_bias", {24}},
                                                                      {"projection", {8, 8}},
                                                                      {"eight", {8}},
                                                                      {"up", {16, 8}},
                                                                      {"up_bias", {16}},
                                                                      {"down", {8, 16}},
                                                                      {"w_ih", {20, 8}},
                                                                      {"w_hh", {20, 5}}}) {
    module.register_parameter(name, torch::randn(sizes), false);
  }
  module.define(R"(
def forward(self, x):
    y = torch._transformer_encoder_layer_fwd(x, 8, 2, self.qkv, self.qkv_bias, self.projection, self.eight, False, False, 1e-5, self.eight, self.eight, self.eight, self.eight, self.up, self.up_bias, self.down, self.eight)
    h = torch.zeros([x.size(0), 5])
    a, b = torch.lstm_cell(y[:, 0], [h, h], self.w_ih, self.w_hh)
    return torch.einsum("...th,...sh->...ts", [y, y]), a, b
)");
  const auto model = test::open(module, "7x8");
  ASSERT_TRUE(model) << model.error().message;
  std::map<std::string, double> flops;
  for (const Operator& op : model->graph().operators) flops[op.kind] = op.flops_per_sample;
  const double attention = 2 * 7 * 8 * (4 * 8 + 2 * 7) + 5 * 7 * 7;
  EXPECT_DOUBLE_EQ(flops["aten::_transformer_encoder_layer_fwd"],
                   attention + 2 * 8 * 7 * 8 + 2 * 7 * (2 * 8 * 16));
  EXPECT_DOUBLE_EQ(flops["aten::lstm_cell"], 2 * (20 * 8 + 20 * 5));
  EXPECT_DOUBLE_EQ(flops["aten::einsum"], 2 * 7 * 7 * 8);
}

}  // namespace
}  // namespace pareto::model
