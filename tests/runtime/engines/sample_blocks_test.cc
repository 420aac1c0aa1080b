// Batches that go through a graph in blocks of samples.
#include "runtime/engines/sample_blocks.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "core/base/thread_pool.h"
#include "tests/runtime/engines/written_module.h"

namespace pareto::runtime {
namespace {

using test::written_module;
using Results = std::vector<c10::IValue>;

const test::NamedTensors& weights() {
  static const test::NamedTensors kWeights = [] {
    at::manual_seed(41);
    return test::NamedTensors{{"a", at::randn({16, 3, 3, 3}) * 0.2},
                              {"b", at::randn({16, 16, 3, 3}) * 0.1},
                              {"c", at::randn({24, 16, 1, 1}) * 0.2},
                              {"full", at::randn({10, 24})},
                              {"mean", at::randn({16})},
                              {"var", at::rand({16}) + 0.5}};
  }();
  return kWeights;
}

LoadedModule module_of(const std::string& body) {
  return written_module("\ndef run(self, x):\n" + body, weights());
}

BlockedGraph blocked(const std::string& body) {
  const EngineGraph graph = prepare_prepacked(module_of(body));
  return block_samples(graph.graph, graph.extra);
}

std::size_t count(const torch::jit::Graph& graph, const char* kind) {
  std::size_t found = 0;
  for (const torch::jit::Node* node : graph.nodes()) {
    found += node->kind() == c10::Symbol::fromQualString(kind) ? 1 : 0;
  }
  return found;
}

constexpr const char* kNetwork = R"(
    y = torch.relu(torch.conv2d(x, self.a, None, [2, 2], [1, 1]))
    z = torch.cat([torch.conv2d(y, self.b, None, [1, 1], [1, 1]), torch.max_pool2d(y, [3, 3], [1, 1], [1, 1])], 1)
    u = torch.hardswish(torch.conv2d(y, self.c)) * 0.5
    v = torch.adaptive_avg_pool2d(u, [1, 1])
    return (torch.linear(torch.flatten(v, 1), self.full), z, y)
)";

TEST(SampleBlocks, HoldWhatTreatsSamplesForThemselves) {
  const BlockedGraph graph = blocked(kNetwork);
  ASSERT_NE(graph.blocks, nullptr);
  EXPECT_EQ(count(*graph.graph, "pareto::samples"), 1U);
  EXPECT_EQ(count(*graph.graph, "pareto::pooling"), 0U);
  EXPECT_EQ(count(*graph.graph, "pareto::concatenation"), 0U);
  EXPECT_EQ(count(*graph.graph, "aten::mul"), 0U);
  // A linear layer reads its weights once for all samples.
  EXPECT_EQ(count(*graph.graph, "pareto::convolution"), 1U);
  EXPECT_EQ(count(*graph.graph, "aten::flatten"), 1U);
}

TEST(SampleBlocks, HoldNothingThatMixesSamplesOrWritesToWhatOthersRead) {
  for (const char* const layer :
       {"torch.cat([y, y], 0)", "y.mean([0, 2], True)", "y.mean([0], True)", "y.mean()",
        "torch.batch_norm(y, None, None, None, None, True, 0.1, 1e-5, True)", "torch.flip(y, [0])",
        "y + y[0:1]", "torch.softmax(y, 0)", "y.reshape([1, -1, 4, 4])", "y.add_(1)"}) {
    const BlockedGraph graph =
        blocked("    y = torch.conv2d(torch.conv2d(x, self.a), self.b)\n    y = torch.conv2d(" +
                std::string("torch.sin(y), self.b)\n    z = ") + layer + "\n    return (z, y)\n");
    if (!graph.blocks) continue;
    // The first two only: sin is not known, nor what follows it.
    EXPECT_EQ(count(*graph.graph, "pareto::convolution"), 1U) << layer;
    EXPECT_EQ(count(*graph.graph, "aten::sin"), 1U) << layer;
  }
}

TEST(SampleBlocks, MixersAfterThemStayOutside) {
  for (const char* const layer :
       {"torch.cat([y, y], 0)", "y.mean([0, 2], True)", "y.mean([0], True)",
        "torch.batch_norm(y, None, None, None, None, True, 0.1, 1e-5, True)",
        "torch.flip(y, [0])"}) {
    const std::string body =
        "    y = torch.conv2d(torch.conv2d(x, self.a), self.b)\n    z = torch.relu(" +
        std::string(layer) + ")\n    return (z, y)\n";
    const BlockedGraph graph = blocked(body);
    ASSERT_NE(graph.blocks, nullptr) << layer;
    EXPECT_EQ(count(*graph.graph, "pareto::convolution"), 0U) << layer;
    EXPECT_EQ(count(*graph.graph, "aten::relu"), 1U) << layer;
  }
}

TEST(SampleBlocks, AreNotMadeOfOneLayer) {
  EXPECT_EQ(blocked("    return (torch.conv2d(x, self.a),)\n").blocks, nullptr);
  EXPECT_EQ(blocked("    return (torch.linear(x, self.full),)\n").blocks, nullptr);
}

TEST(SampleBlocks, GiveThePlainResultsAtEveryBatchOnOneThreadAndTwo) {
  at::manual_seed(42);
  const LoadedModule loaded = module_of(kNetwork);
  const auto plain = build_engine("plain", loaded);
  for (const int threads : {1, 2}) {
    ThreadPool pool(threads);
    const PoolScope scope(&pool);
    const auto engine = build_engine("prepacked", loaded);
    for (const std::int64_t batch : {5, 1, 8, 2, 5, 16, 3}) {
      for (const std::int64_t side : {9, 16}) {
        const at::Tensor x = at::randn({batch, 3, side, side});
        const Results expected = plain->run({x.clone()}, nullptr);
        const Results found = engine->run({x}, nullptr);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_EQ(found[i].toTensor().sizes(), expected[i].toTensor().sizes());
          EXPECT_TRUE(at::allclose(found[i].toTensor(), expected[i].toTensor(), 1e-4, 1e-4))
              << "result " << i << " of " << batch << " samples on " << threads;
        }
      }
    }
  }
}

TEST(SampleBlocks, TakeArgumentsThatAreNoPictures) {
  // Three dimensions: one picture without a batch.
  const LoadedModule loaded = written_module(R"(
def run(self, x, y):
    z = torch.conv2d(torch.conv2d(x, self.a), self.b) + y
    return (torch.relu(z),)
)",
                                             weights());
  const auto plain = build_engine("plain", loaded);
  const auto engine = build_engine("prepacked", loaded);
  for (const auto& addend : {at::randn({4, 16, 5, 5}), at::randn({1, 16, 5, 5}),
                             at::randn({16, 1, 1}), at::randn({1})}) {
    const at::Tensor x = at::randn({4, 3, 9, 9});
    const Results expected = plain->run({x, addend}, nullptr);
    const Results found = engine->run({x, addend}, nullptr);
    EXPECT_TRUE(at::allclose(found[0].toTensor(), expected[0].toTensor(), 1e-4, 1e-4))
        << addend.sizes();
  }
}

}  // namespace
}  // namespace pareto::runtime
