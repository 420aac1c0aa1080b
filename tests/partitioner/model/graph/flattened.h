// Graphs of scripted methods, before and after one step of flattening. Sees LibTorch.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/flatten.h"
#include "runtime/torch/convert.h"
#include "tests/partitioner/scripted.h"

namespace pareto::test {

using GraphPtr = std::shared_ptr<torch::jit::Graph>;

/// Copies the graph of a module's forward.
inline GraphPtr graph_of(const torch::jit::Module& module) {
  return module.get_method("forward").graph()->copy();
}

inline c10::IValue interpreted(const GraphPtr& graph, const torch::jit::Module& module,
                               std::vector<c10::IValue> inputs) {
  torch::jit::Stack stack{module._ivalue()};
  for (c10::IValue& input : inputs) stack.push_back(std::move(input));
  torch::jit::InterpreterState(torch::jit::Code(graph, "forward")).run(stack);
  return stack.back();
}

/// Number of nodes of a kind, those in blocks included: "aten::add".
inline std::size_t count(const GraphPtr& graph, const std::string& kind) {
  return model::nodes_of_kind(graph->block(), c10::Symbol::fromQualString(kind)).size();
}

/// Checks that the module, saved and opened, computes what it did before, at several batches.
inline void expect_same_when_flat(const torch::jit::Module& module, const std::string& shapes) {
  const auto model = open(module, shapes);
  ASSERT_TRUE(model) << model.error().message;
  for (const std::int64_t batch : {1, 4}) {
    const auto inputs = model->example_inputs(batch, 9);
    ASSERT_TRUE(inputs) << inputs.error().message;
    const auto expected = model->run_whole(*inputs);
    ASSERT_TRUE(expected) << expected.error().message;
    std::vector<c10::IValue> arguments;
    for (std::size_t i = 0; i < inputs->size(); ++i) {
      arguments.push_back(runtime::to_torch(*inputs->at(i).get_if<Tensor>()).clone());
    }
    const model::Flat& flat = model->flat();
    for (const model::FlatWeight& weight : flat.weights) arguments.emplace_back(weight.to_run());
    torch::jit::Stack stack = std::move(arguments);
    torch::jit::InterpreterState(torch::jit::Code(flat.graph, "flat")).run(stack);
    ASSERT_EQ(stack.size(), expected->size());
    for (std::size_t i = 0; i < stack.size(); ++i) {
      const auto found = runtime::from_ivalue(stack[i]);
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_TRUE(bit_equal(*found, expected->at(i))) << "result " << i << " at batch " << batch;
    }
  }
}

}  // namespace pareto::test
