// The second wall: what LibTorch made of the code of a shard.
#include "runtime/graph_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pareto::runtime {
namespace {

using testing::HasSubstr;

torch::jit::Module checked_module(const std::string& code) {
  torch::jit::Module module("__torch__.Shard");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.define(code);
  return module;
}

/// Returns why a module is refused; "" if it is not.
std::string graph_refusal(const torch::jit::Module& module) {
  const auto checked = check_graphs(module);
  if (checked) return "";
  EXPECT_EQ(checked.error().code, ErrorCode::kPermission);
  return checked.error().message;
}

TEST(CheckGraphs, WhatComputesPasses) {
  EXPECT_EQ(graph_refusal(checked_module(R"(
def help(self, x, n: int):
    l = [x, x + n]
    d = {"a": x}
    for i in range(n):
        if bool(x.sum() > 0):
            x = torch.relu(x) + d["a"]
        l.append(x)
    return torch.cat(l), (n, "text", None)
def run(self, x):
    y, rest = self.help(x, 3)
    return (y,)
)")),
            "");
}

TEST(CheckGraphs, OperatorsThatReachFurtherAreRefusedWhereverTheyStand) {
  const std::vector<std::string> wrong{"print(x)", "torch.manual_seed(1)", "torch.save(x, \"f\")",
                                       "x.resize_([1000000])"};
  int tried = 0;
  for (const std::string& line : wrong) {
    for (const std::string& code :
         {"def run(self, x):\n    " + line + "\n    return (x,)\n",
          "def run(self, x):\n    if bool(x.sum() > 0):\n        for i in range(2):\n            " +
              line + "\n    return (x,)\n",
          "def unused(self, x):\n    " + line +
              "\n    return x\n"
              "def run(self, x):\n    return (x,)\n"}) {
      try {
        EXPECT_THAT(graph_refusal(checked_module(code)), HasSubstr("no shard may use the operator"))
            << code;
        ++tried;
      } catch (const c10::Error&) {
        // LibTorch itself does not know it.
      }
    }
  }
  EXPECT_GE(tried, 6);
}

TEST(CheckGraphs, AContainerOfAnythingIsRefused) {
  const auto module = checked_module(
      "def run(self, x):\n    l: Dict[str, List[Any]] = {}\n    return (x, len(l))\n");
  EXPECT_THAT(graph_refusal(module), HasSubstr("no shard may have a value of the"));
}

TEST(CheckGraphs, AttributesAreTensorsNumbersAndTexts) {
  const auto with = [](const c10::IValue& value, c10::TypePtr type = nullptr) {
    torch::jit::Module module = checked_module("def run(self, x):\n    return (x,)\n");
    module.register_attribute("held", type ? type : value.type(), value);
    return graph_refusal(module);
  };
  EXPECT_EQ(with(at::ones({2})), "");
  EXPECT_EQ(with(5), "");
  EXPECT_EQ(with(1.5), "");
  EXPECT_EQ(with(true), "");
  EXPECT_EQ(with("text"), "");
  EXPECT_EQ(with(c10::Device("cpu")), "");
  EXPECT_EQ(with(c10::IValue(), c10::OptionalType::ofTensor()), "");
  for (const c10::IValue& grows :
       {c10::IValue(c10::List<at::Tensor>({at::ones({1})})), c10::IValue(c10::List<std::int64_t>()),
        c10::IValue(c10::ivalue::Tuple::create({at::ones({1}), 5})),
        c10::IValue(c10::Dict<std::string, at::Tensor>())}) {
    EXPECT_THAT(with(grows), HasSubstr("no shard may have the attribute held of the type"))
        << grows.tagKind();
  }
}

TEST(CheckGraphs, EveryFunctionOfTheArchiveIsChecked) {
  torch::jit::Module module = checked_module("def run(self, x):\n    return (x,)\n");
  const auto unit = module._ivalue()->compilation_unit();
  ASSERT_EQ(graph_refusal(module), "");
  auto graph = std::make_shared<torch::jit::Graph>();
  graph->insertNode(graph->create(c10::Symbol::fromQualString("mine::read_anything"), 0));
  graph->registerOutput(graph->insertConstant(1));
  unit->create_function(c10::QualifiedName("__torch__.hidden"), graph);
  EXPECT_THAT(graph_refusal(module), HasSubstr("mine::read_anything"));
}

}  // namespace
}  // namespace pareto::runtime
