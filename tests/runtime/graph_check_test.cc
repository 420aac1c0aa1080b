// The second wall: what LibTorch made of the code of a shard.
#include "runtime/graph_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/kept_values.h"

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

TEST(CheckGraphs, ObjectsInTheModuleHoldNothingThatGrows) {
  const auto with = [](const c10::IValue& value) {
    torch::jit::Module inner("__torch__.Inner");
    inner.register_attribute("held", value.type(), value);
    torch::jit::Module middle("__torch__.Middle");
    middle.register_module("inner", inner);
    torch::jit::Module module = checked_module("def run(self, x):\n    return (x,)\n");
    module.register_module("middle", middle);
    return graph_refusal(module);
  };
  EXPECT_EQ(with(5), "");
  EXPECT_THAT(with(c10::List<std::int64_t>()), HasSubstr("no shard may have the attribute held"));
  EXPECT_THAT(with(c10::Dict<std::string, at::Tensor>()),
              HasSubstr("no shard may have the attribute held"));
}

TEST(CheckGraphs, AnObjectInManyPlacesIsCheckedOnce) {
  torch::jit::Module inner("__torch__.Last");
  for (int i = 0; i < 60; ++i) {
    torch::jit::Module outer("__torch__.Level" + std::to_string(i));
    outer.register_module("one", inner);
    outer.register_module("other", inner);
    inner = outer;
  }
  EXPECT_EQ(graph_refusal(inner), "");
}

TEST(CheckGraphs, AConstantThatAGraphChangesIsRefused) {
  const auto with = [](const c10::IValue& value, const std::string& statement) {
    torch::jit::Module module = checked_module(
        "def run(self, x):\n    l = [5]\n    d = {1: 2}\n"
        "    t = ([6], 7)\n    " +
        statement + "\n    return (x, l, d, t)\n");
    const auto graph = module.get_method("run").graph();
    for (torch::jit::Node* node : graph->nodes()) {
      if (node->outputs().size() != 1 || node->kind() == c10::prim::Constant) continue;
      if (*node->output()->type() != *value.type()) continue;
      const torch::jit::WithInsertPoint here(node);
      node->output()->replaceAllUsesWith(graph->insertConstant(value));
      break;
    }
    return graph_refusal(module);
  };
  const c10::List<std::int64_t> list({1});
  c10::Dict<std::int64_t, std::int64_t> dict;
  dict.insert(1, 2);
  const c10::IValue tuple = c10::ivalue::Tuple::create({list, 7});
  for (const c10::IValue& value : {c10::IValue(list), c10::IValue(dict), tuple}) {
    EXPECT_EQ(with(value, "pass"), "");
  }
  EXPECT_EQ(with(list, "x.add_(1)"), "") << "it is another thing that is written";
  EXPECT_THAT(with(list, "l.append(2)"), HasSubstr("no shard may change a constant"));
  EXPECT_THAT(with(list, "for i in range(3):\n        l.append(i)"),
              HasSubstr("no shard may change a constant"));
  EXPECT_THAT(with(dict, "d[5] = 6"), HasSubstr("no shard may change a constant"));
  EXPECT_THAT(with(tuple, "t[0].append(2)"), HasSubstr("no shard may change a constant"));
}

TEST(CheckGraphs, ADefaultThatAFunctionChangesIsRefused) {
  const auto with = [](const std::string& statement) {
    return graph_refusal(checked_module("def part(self, l: List[int] = [1]):\n    " + statement +
                                        "\n    return len(l)\n"
                                        "def run(self, x):\n    return (x, self.part())\n"));
  };
  EXPECT_EQ(with("n = l[0]"), "");
  EXPECT_THAT(with("l.append(2)"), HasSubstr("no shard may change a constant"));
}

TEST(CheckGraphs, AFunctionThatWritesToATensorOfItsConstantsIsRefused) {
  const auto with = [](const std::string& statement) {
    torch::jit::Module module =
        checked_module("def part(self, x):\n    z = x + 1\n    " + statement +
                       "\n    return z\n"
                       "def run(self, x):\n    return self.part(x)\n");
    const auto graph = module.get_method("part").graph();
    torch::jit::Node* const first = *graph->nodes().begin();
    const torch::jit::WithInsertPoint here(first);
    torch::jit::Value* const constant = graph->insertConstant(at::ones({2}));
    for (torch::jit::Node* node : graph->nodes()) {
      if (node->kind() == c10::aten::add) node->output()->replaceAllUsesWith(constant);
    }
    return graph_refusal(module);
  };
  EXPECT_EQ(with("y = z + x"), "");
  EXPECT_THAT(with("z.add_(x)"), HasSubstr("no shard may change a constant of the type Tensor"));
}

TEST(CheckWrittenConstants, ATensorInAConstantListIsRefused) {
  const auto with = [](const std::string& statement) {
    torch::jit::Module module = checked_module("def run(self, x):\n    l = [x]\n    " + statement +
                                               "\n    return (x, l)\n");
    const auto graph = module.get_method("run").graph();
    const torch::jit::WithInsertPoint here(*graph->nodes().begin());
    torch::jit::Value* const constant =
        graph->insertConstant(c10::List<at::Tensor>({at::ones({2})}));
    for (torch::jit::Node* node : graph->nodes()) {
      if (node->kind() != c10::prim::ListConstruct) continue;
      node->output()->replaceAllUsesWith(constant);
      break;
    }
    const auto checked = check_written_constants(*graph);
    return checked ? "" : checked.error().message;
  };
  EXPECT_EQ(with("y = l[0] + x"), "");
  EXPECT_THAT(with("l[0].add_(x)"), HasSubstr("no shard may change a constant"));
}

/// Returns why a module is refused with one more node, which gets the input.
std::string refusal_of_node(c10::Symbol kind, std::size_t outputs, const c10::TypePtr& input) {
  torch::jit::Module module = checked_module("def run(self, x):\n    return (x,)\n");
  const auto graph = module.get_method("run").graph();
  graph->inputs()[1]->setType(input);
  graph->prependNode(graph->create(kind, {graph->inputs()[1]}, outputs));
  return graph_refusal(module);
}

TEST(CheckGraphs, ATupleIsTakenApartIntoAsManyAsItHas) {
  const auto pair = c10::TupleType::create({c10::TensorType::get(), c10::TensorType::get()});
  EXPECT_EQ(refusal_of_node(c10::prim::TupleUnpack, 2, pair), "");
  for (const std::size_t count : {0U, 1U, 3U}) {
    EXPECT_THAT(refusal_of_node(c10::prim::TupleUnpack, count, pair),
                HasSubstr("values from prim::TupleUnpack, which returns others"))
        << count;
  }
  EXPECT_THAT(refusal_of_node(c10::prim::TupleUnpack, 2, c10::AnyType::get()),
              HasSubstr("values from prim::TupleUnpack, which returns others"));
}

TEST(CheckGraphs, ACastThatNothingChecksIsRefusedByItsPlace) {
  torch::jit::Module module = checked_module("def run(self, x):\n    return (x,)\n");
  const auto graph = module.get_method("run").graph();
  const auto one = c10::TupleType::create({c10::TensorType::get()});
  graph->inputs()[1]->setType(c10::TupleType::create({}));
  const torch::jit::WithInsertPoint start(*graph->nodes().begin());
  graph->insertUncheckedCast(graph->inputs()[1], one);
  EXPECT_THAT(graph_refusal(module), HasSubstr("__torch__.Shard.run: a value of the type Tuple["));
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

Expected<> checked_body(const std::string& body) {
  return check_graphs(checked_module("def run(self, x):\n" + body + "    return (x,)\n"));
}

TEST(CheckGraphs, OperatorsThatWriteIntoAGivenTensorAreRefusedByName) {
  for (const char* const body :
       {"    torch.add(x, x, out=x)\n", "    for i in range(3):\n        torch.add(x, i, out=x)\n",
        "    if bool(x.sum() > 1):\n        torch.add(x, x, alpha=2, out=x)\n"}) {
    const auto refused = checked_body(body);
    ASSERT_FALSE(refused) << body;
    EXPECT_EQ(refused.error().code, ErrorCode::kPermission);
    EXPECT_THAT(refused.error().message,
                HasSubstr("no shard may use aten::add with a tensor for its result"));
  }
  EXPECT_FALSE(checked_body("    y, i = torch.max(x, 0, max=x, max_values=x.to(4))\n"));
}

TEST(CheckGraphs, ATensorForAResultIsRefusedByItsPlaceToo) {
  torch::jit::Module module = checked_module("def run(self, x):\n    return (x,)\n");
  const auto graph = module.get_method("run").graph();
  torch::jit::Value* const x = graph->inputs()[1];
  const torch::jit::WithInsertPoint start(*graph->nodes().begin());
  graph->insert(c10::Symbol::fromQualString("quantized::add"), {x, x, x});
  EXPECT_THAT(graph_refusal(module),
              HasSubstr("no shard may use quantized::add with a tensor for its result"));
}

TEST(CheckGraphs, OperatorsThatWorkInPlacePass) {
  for (const char* const body :
       {"    x.add_(1)\n", "    x[0] = 3\n", "    l = [x]\n    l.append(x)\n    l[0] = x\n",
        "    x.copy_(x + 1)\n    x.clamp_(0, 1)\n", "    x.index_put_([x.to(4)], x)\n"}) {
    const auto passed = checked_body(body);
    EXPECT_TRUE(passed) << body << passed.error().message;
  }
}

}  // namespace
}  // namespace pareto::runtime
