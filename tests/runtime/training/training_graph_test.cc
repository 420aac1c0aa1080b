#include "runtime/training/training_graph.h"

#include <gtest/gtest.h>

#include "runtime/torch/interruption.h"

namespace pareto::runtime {
namespace {

using Values = std::vector<c10::IValue>;

bool freezes_nothing(const std::string& /*path*/) { return false; }

/// Returns the graph of a "run" with that body, which takes x.
std::shared_ptr<torch::jit::Graph> graph_of(const std::string& body) {
  torch::jit::Module module("__torch__.Shard");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define("def run(self, x):\n" + body);
  return module.get_method("run").graph()->copy();
}

at::Tensor first_of(const std::shared_ptr<torch::jit::Graph>& graph, const at::Tensor& x) {
  torch::jit::Module self("__torch__.Shard");
  return run_code(compile_graph(graph, "test"), self._ivalue(), {x})[0].toTensor();
}

constexpr const char* kNorm =
    "    mean = torch.zeros([3])\n"
    "    var = torch.ones([3])\n"
    "    y = torch.batch_norm(x, None, None, mean, var, False, 0.1, 1e-5, False)\n"
    "    return (y,)\n";

at::Tensor normalised(const at::Tensor& x) {
  return at::batch_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false);
}

TEST(TrainingGraph, NormsUseTheBatchsStatistics) {
  at::manual_seed(1);
  const at::Tensor x = at::randn({4, 3, 2, 2}) * 5 + 2;
  const auto graph = graph_of(kNorm);
  const auto training = training_graph(*graph, freezes_nothing);
  EXPECT_TRUE(first_of(training, x).allclose(normalised(x), 1e-4, 1e-5));
  EXPECT_TRUE(first_of(graph, x).allclose(x, 1e-4, 1e-4)) << "the given graph stays";
}

TEST(TrainingGraph, InstanceNormsDoToo) {
  const at::Tensor x = at::randn({2, 3, 4, 4}) * 3 + 1;
  const auto graph = graph_of(
      "    mean = torch.zeros([3])\n"
      "    var = torch.ones([3])\n"
      "    y = torch.instance_norm(x, None, None, mean, var, False, 0.1, 1e-5, False)\n"
      "    return (y,)\n");
  const at::Tensor expected = at::instance_norm(x, {}, {}, {}, {}, true, 0.1, 1e-5, false);
  EXPECT_FALSE(first_of(graph, x).allclose(expected, 1e-3, 1e-3));
  EXPECT_TRUE(first_of(training_graph(*graph, freezes_nothing), x).allclose(expected, 1e-4, 1e-4));
}

TEST(TrainingGraph, EveryKindOfDropoutDrops) {
  for (const char* const kind :
       {"dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout", "dropout_",
        "feature_dropout_", "alpha_dropout_", "feature_alpha_dropout_"}) {
    const auto graph = graph_of("    y = x.clone()\n    return (torch." + std::string(kind) +
                                "(y, 0.5, False),)\n");
    const at::Tensor x = at::ones({64, 8, 1, 1});
    EXPECT_TRUE(first_of(graph, x).equal(x)) << kind;
    at::manual_seed(2);
    const at::Tensor dropped = first_of(training_graph(*graph, freezes_nothing), x);
    EXPECT_FALSE(dropped.equal(x)) << kind;
    EXPECT_GT(dropped.ne(dropped.flatten()[0]).sum().item<int>(), 100) << kind << ": about half";
    EXPECT_TRUE(draws_random_numbers(*graph)) << kind;
  }
}

TEST(TrainingGraph, SlopesOfRreluAreDrawn) {
  const auto graph = graph_of("    return (torch.rrelu(x, 0.1, 0.3, False),)\n");
  const at::Tensor x = at::full({64}, -1.0);
  EXPECT_TRUE(first_of(graph, x).allclose(at::full({64}, -0.2)));
  const at::Tensor drawn = first_of(training_graph(*graph, freezes_nothing), x);
  EXPECT_GT(drawn.std().item<double>(), 0);
  EXPECT_TRUE(draws_random_numbers(*graph));
}

TEST(TrainingGraph, DropoutBetweenLayersOfRecurrentNetworksDrops) {
  for (const char* const kind : {"gru", "rnn_tanh", "rnn_relu"}) {
    const auto graph = graph_of(
        "    w = [torch.ones([3 * 4, 2]), torch.ones([3 * 4, 4]), torch.ones([3 * 4, 4]),\n"
        "         torch.ones([3 * 4, 4])]\n"
        "    if \"" +
        std::string(kind) +
        "\" != \"gru\":\n"
        "        w = [torch.ones([4, 2]), torch.ones([4, 4]), torch.ones([4, 4]), torch.ones([4, "
        "4])]\n"
        "    y, h = torch." +
        kind +
        "(x, torch.zeros([2, 1, 4]), w, False, 2, 0.5, False, False, False)\n"
        "    return (y,)\n");
    const at::Tensor x = at::ones({8, 1, 2});
    EXPECT_TRUE(first_of(graph, x).equal(first_of(graph, x))) << kind;
    const auto training = training_graph(*graph, freezes_nothing);
    at::manual_seed(1);
    const at::Tensor once = first_of(training, x);
    EXPECT_FALSE(once.equal(first_of(training, x))) << kind << ": it draws";
    EXPECT_TRUE(draws_random_numbers(*graph)) << kind;
  }
}

TEST(TrainingGraph, ANormThatNeverChangesItsStatisticsIsRefused) {
  const auto norm = [](const char* momentum) {
    return graph_of(
        "    mean = torch.zeros([3])\n"
        "    var = torch.ones([3])\n"
        "    return (torch.batch_norm(x, None, None, mean, var, False, " +
        std::string(momentum) + ", 1e-5, False),)\n");
  };
  EXPECT_TRUE(check_trainable(*norm("0.1"), freezes_nothing));
  const auto refused = check_trainable(*norm("0.0"), freezes_nothing);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("momentum=None"), std::string::npos);
  EXPECT_TRUE(check_trainable(*norm("0.0"), [](const std::string&) { return true; })) << "frozen";
  EXPECT_TRUE(check_trainable(
      *graph_of("    return (torch.batch_norm(x, None, None, None, None, True, 0.0, 1e-5, "
                "False),)\n"),
      freezes_nothing))
      << "it has no statistics";
}

TEST(TrainingGraph, OperatorsInBranchesAndLoopsAreSwitched) {
  const auto graph = graph_of(
      "    for i in range(2):\n"
      "        if bool(x.sum() > 0):\n"
      "            x = torch.dropout(x, 1.0, False)\n"
      "    return (x,)\n");
  const at::Tensor x = at::ones({8});
  EXPECT_TRUE(first_of(graph, x).equal(x));
  EXPECT_TRUE(first_of(training_graph(*graph, freezes_nothing), x).equal(at::zeros({8})));
}

TEST(TrainingGraph, FrozenModulesStayAsInEvaluation) {
  const auto graph =
      graph_of("    return (torch.dropout(torch.dropout(x, 1.0, False), 1.0, False),)\n");
  const auto root = c10::make_intrusive<torch::jit::Scope>();
  std::vector<std::string> names{"stem", "head"};
  for (torch::jit::Node* node : graph->nodes()) {
    if (node->kind() != c10::aten::dropout) continue;
    node->setScope(root->push(c10::Symbol::scope(names.back())));
    names.pop_back();
  }
  ASSERT_TRUE(names.empty());
  const at::Tensor x = at::ones({4});
  std::vector<std::string> asked;
  const auto run_with = [&](const std::vector<std::string>& frozen) {
    return first_of(training_graph(*graph,
                                   [&](const std::string& path) {
                                     asked.push_back(path);
                                     return std::ranges::find(frozen, path) != frozen.end();
                                   }),
                    x);
  };
  EXPECT_TRUE(run_with({"stem", "head"}).equal(x));
  EXPECT_EQ(asked, (std::vector<std::string>{"head", "stem"}));
  EXPECT_TRUE(run_with({"stem"}).equal(at::zeros({4})));
  EXPECT_TRUE(run_with({"head"}).equal(at::zeros({4})));
}

TEST(TrainingGraph, GivesGradientsThroughNorms) {
  const at::Tensor x = (at::randn({4, 3, 2, 2}) + 1).requires_grad_();
  const at::Tensor weight = at::randn({4, 3, 2, 2});
  const auto training = training_graph(*graph_of(kNorm), freezes_nothing);
  (first_of(training, x) * weight).sum().backward();
  const at::Tensor plain = x.detach().clone().requires_grad_();
  (normalised(plain) * weight).sum().backward();
  EXPECT_TRUE(x.grad().allclose(plain.grad(), 1e-4, 1e-5));
}

TEST(DrawsRandomNumbers, FindsThemInBlocksToo) {
  const auto draws = [](const std::string& body) { return draws_random_numbers(*graph_of(body)); };
  EXPECT_TRUE(draws("    return (torch.rand_like(x),)\n"));
  EXPECT_TRUE(draws("    return (torch.bernoulli(x),)\n"));
  EXPECT_TRUE(draws("    for i in range(2):\n        x = x + torch.rand([2])\n    return (x,)\n"));
  EXPECT_FALSE(draws("    return (torch.relu(x),)\n"));
  EXPECT_FALSE(draws(kNorm));
}

TEST(RunCode, GivesEveryElementOfTheTuple) {
  const auto graph = graph_of("    return (x, 5, [x, x], \"text\")\n");
  const torch::jit::Module self("__torch__.Shard");
  const Values given = run_code(compile_graph(graph, "test"), self._ivalue(), {at::ones({2})});
  ASSERT_EQ(given.size(), 4U);
  EXPECT_EQ(given[1].toInt(), 5);
  EXPECT_EQ(given[2].toTensorVector().size(), 2U);
  EXPECT_EQ(given[3].toStringRef(), "text");
}

TEST(RunCode, ThrowsWhatAnOperatorThrowsAndRunsAgain) {
  const auto graph = graph_of("    return (torch.mm(x, x),)\n");
  const auto code = compile_graph(graph, "test");
  const torch::jit::Module self("__torch__.Shard");
  EXPECT_ANY_THROW(run_code(code, self._ivalue(), {at::ones({2, 3})}));
  EXPECT_ANY_THROW(run_code(code, self._ivalue(), {at::ones({2})}));
  EXPECT_TRUE(run_code(code, self._ivalue(), {at::eye(2)})[0].toTensor().equal(at::eye(2)));
}

TEST(CompileGraph, LoopsEndWhenTheyShall) {
  const auto graph = graph_of("    while bool(x.sum() > 0):\n        x = x + 1\n    return (x,)\n");
  const auto code = compile_graph(graph, "test");
  const torch::jit::Module self("__torch__.Shard");
  const std::atomic<bool> stop = true;
  const StopScope scope(&stop);
  EXPECT_ANY_THROW(run_code(code, self._ivalue(), {at::ones({1})}));
}

}  // namespace
}  // namespace pareto::runtime
