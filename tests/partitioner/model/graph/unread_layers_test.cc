// Layers that are skipped while shapes are looked at: what stands for them has the shape, type and
// layout of what they return.
#include "partitioner/model/graph/unread_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/graph_runner.h"
#include "tests/partitioner/scripted.h"

namespace pareto::model {
namespace {

using torch::jit::Node;

/// Runs a function of tensors operator by operator, and compares each layer with what stands for
/// it. Returns how many layers had something to stand for them.
int compared(const std::string& body, std::vector<at::Tensor> arguments) {
  std::string names;
  for (std::size_t i = 0; i < arguments.size(); ++i) names += fmt::format(", x{}", i);
  const auto module =
      test::scripted("Layers", "def forward(self" + names + "):\n    return " + body + "\n");
  const auto graph = module.get_method("forward").graph()->copy();
  std::vector<c10::IValue> inputs{module._ivalue()};
  for (const at::Tensor& one : arguments) inputs.emplace_back(one);
  int count = 0;
  GraphRunner(graph).run(std::move(inputs), [&](std::size_t, Node* node, auto in, auto out) {
    const auto zeros = zeros_of_layer(node, in);
    if (!zeros) return;
    ++count;
    const at::Tensor& real = out[0].toTensor();
    EXPECT_EQ(zeros->sizes(), real.sizes()) << body;
    EXPECT_EQ(zeros->strides(), real.strides()) << body;
    EXPECT_EQ(zeros->scalar_type(), real.scalar_type()) << body;
  });
  return count;
}

TEST(UnreadLayers, HaveTheShapeAndLayoutOfWhatTheyStandFor) {
  const at::Tensor pictures = torch::randn({2, 6, 11, 13});
  const at::Tensor filters = torch::randn({8, 6, 3, 3});
  const at::Tensor bias = torch::randn({8});
  EXPECT_EQ(compared("torch.conv2d(x0, x1, x2)", {pictures, filters, bias}), 1);
  EXPECT_EQ(compared("torch.conv2d(x0, x1, None, [2, 1], [1, 2])", {pictures, filters}), 1);
  EXPECT_EQ(compared("torch.conv2d(x0, x1, None, [1], [0], [2])", {pictures, filters}), 1);
  EXPECT_EQ(compared("torch.conv2d(x0, x1, None, [1, 1], [0, 0], [1, 1], 2)",
                     {pictures, torch::randn({4, 3, 1, 1})}),
            1);
  EXPECT_EQ(
      compared("torch.conv2d(x0, x1)", {torch::randn({2, 6, 1, 1}), torch::randn({8, 6, 1, 1})}),
      1);
  EXPECT_EQ(compared("torch._convolution(x0, x1, x2, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, "
                     "False, False, True, True)",
                     {pictures, filters, bias}),
            1);
  EXPECT_EQ(compared("torch.linear(x0, x1, x2)",
                     {torch::randn({2, 5, 7}), torch::randn({4, 7}), torch::randn({4})}),
            1);
  EXPECT_EQ(compared("torch.linear(x0, x1)", {torch::randn({3, 7}), torch::randn({4, 7})}), 1);
}

TEST(UnreadLayers, OfTransformersHaveTheShapeAndLayoutOfWhatTheyStandFor) {
  const at::Tensor queries = torch::randn({2, 3, 5, 4});
  EXPECT_EQ(compared("torch.matmul(x0, x1)", {queries, torch::randn({2, 3, 4, 6})}), 1);
  EXPECT_EQ(compared("torch.matmul(x0, x1)", {queries, torch::randn({2, 3, 6, 4}).mT()}), 1);
  EXPECT_EQ(compared("torch.matmul(x0, x1)",
                     {torch::randn({2, 5, 3, 4}).transpose(1, 2), torch::randn({2, 3, 4, 6})}),
            1);
  EXPECT_EQ(compared("torch.matmul(x0, x1)", {torch::randn({3, 5, 4}), torch::randn({3, 4, 1})}),
            1);
  EXPECT_EQ(compared("torch.softmax(x0, -1)", {queries}), 1);
  EXPECT_EQ(compared("torch.softmax(x0, 1)", {queries}), 1);
  const at::Tensor scale = torch::randn({5, 4});
  EXPECT_EQ(compared("torch.layer_norm(x0, [5, 4], x1, x1)", {queries, scale}), 1);
  EXPECT_EQ(compared("torch.layer_norm(x0, [4])", {queries}), 1);
}

TEST(UnreadLayers, ThatAreNotCommonCompute) {
  const at::Tensor pictures = torch::randn({2, 6, 11, 13});
  const at::Tensor filters = torch::randn({8, 6, 3, 3});
  EXPECT_EQ(compared("torch.conv2d(x0, x1)",
                     {pictures.contiguous(at::MemoryFormat::ChannelsLast), filters}),
            0);
  EXPECT_EQ(compared("torch.conv2d(x0, x1)",
                     {pictures, filters.contiguous(at::MemoryFormat::ChannelsLast)}),
            0);
  EXPECT_EQ(compared("torch.linear(x0, x1)", {torch::randn({7, 3}).t(), torch::randn({4, 7})}), 0);
  EXPECT_EQ(compared("torch._convolution(x0, x1, None, [1, 1], [0, 0], [1, 1], True, [0, 0], 1, "
                     "False, False, True, True)",
                     {pictures, torch::randn({6, 8, 3, 3})}),
            0);
  EXPECT_EQ(compared("torch.relu(x0)", {pictures}), 0);
  EXPECT_EQ(compared("torch.matmul(x0, x1)", {pictures, torch::randn({13, 2})}), 0);
  EXPECT_EQ(compared("torch.matmul(x0, x1)", {pictures, torch::randn({1, 6, 13, 2})}), 0);
  EXPECT_EQ(compared("torch.softmax(x0, 1, 7)", {pictures}), 0);
  EXPECT_EQ(compared("torch.softmax(x0, 1)", {pictures.transpose(1, 2)}), 0);
  EXPECT_EQ(compared("torch.layer_norm(x0, [11, 13])", {pictures.transpose(0, 1)}), 0);
}

TEST(UnreadLayers, AWrongOneOfATransformerIsStillRefusedInLibTorchsWords) {
  for (const char* body : {"torch.matmul(x, torch.ones([2, 4, 4]))", "torch.softmax(x, 3)",
                           "torch.layer_norm(x, [7])"}) {
    const auto model = test::open(
        test::scripted("Wrong", "def forward(self, x):\n    return " + std::string(body) + "\n"),
        "5x8");
    EXPECT_FALSE(model) << body;
  }
}

/// Returns whether the body of forward(self, x, w) ignores the numbers of x.
bool ignores(const std::string& body) {
  const auto module = test::scripted("Numbers", "def forward(self, x, w):\n" + body);
  auto graph = module.get_method("forward").graph()->copy();
  constexpr std::size_t kSelfAndX = 2;
  return ignores_numbers(*graph, kSelfAndX);
}

TEST(UnreadLayers, AreReadWhereNumbersDecide) {
  EXPECT_TRUE(ignores("    y = torch.relu(x)\n    return y.view([x.size(0), -1])\n"));
  EXPECT_TRUE(ignores("    b = x.size(0)\n    return torch.relu(x) * (b * b)\n"));
  EXPECT_FALSE(ignores("    return torch.relu(x) * float(x.sum())\n"));
  EXPECT_FALSE(ignores("    return x[x > 0]\n"));
  EXPECT_FALSE(ignores("    if bool(x.sum() > 0):\n        x = x + 1\n    return x\n"));
  EXPECT_FALSE(ignores("    return torch.nonzero(x)\n"));
}

TEST(UnreadLayers, AreNotReadByWhatWeightsAndSizesDecide) {
  EXPECT_TRUE(ignores("    return x + w[w > 0].sum()\n"));
  EXPECT_TRUE(ignores("    n = torch.tensor(x.size(1)) // 2\n    return x[:, : int(n)]\n"));
  EXPECT_TRUE(ignores("    m = torch.zeros_like(x)\n    m[:, 1:].fill_(1)\n    return x + m\n"));
  EXPECT_TRUE(ignores("    return x * float(w.sum())\n"));
  EXPECT_FALSE(ignores("    w.copy_(x)\n    return x * float(w.sum())\n"));
  EXPECT_FALSE(ignores("    w[0].copy_(x)\n    return x * float(w.sum())\n"));
  EXPECT_FALSE(ignores("    return x * float(torch.stack([w, x]).sum())\n"));
  EXPECT_FALSE(ignores("    l = [w]\n    l.append(x)\n    return x * float(l[1].sum())\n"));
  EXPECT_FALSE(ignores("    l = [w]\n    l.extend([x])\n    return x * float(l[1].sum())\n"));
  EXPECT_TRUE(ignores("    l = [w]\n    l.append(w)\n    return x * float(l[1].sum())\n"));
}

TEST(UnreadLayers, AWrongOneIsStillRefusedInLibTorchsWords) {
  const auto model =
      test::open(test::scripted("Wrong",
                                "def forward(self, x):\n"
                                "    return torch.conv2d(x, torch.ones([4, 3, 3, 3]))\n"),
                 "2x8x8");
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message, testing::HasSubstr("channels"));
}

}  // namespace
}  // namespace pareto::model
