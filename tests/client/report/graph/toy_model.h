// A model of eight operators with two branches, made by hand.
//
//   input ─ stem.conv ─ stem.act ─┬─ left ───────────────┬─ list ─ cat ─ output
//                                 └─ right.0 ─ right.1 ──┘     size (a number)
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "partitioner/model/graph/graph.h"

namespace pareto::test {

inline ValueSpec tensor_spec(std::initializer_list<std::int64_t> per_sample) {
  ValueSpec spec;
  spec.kind = ValueSpec::Kind::kTensor;
  spec.tensor.dims.push_back({0, 1});
  for (const std::int64_t size : per_sample) spec.tensor.dims.push_back({size, 0});
  return spec;
}

/// Makes a graph, operator by operator.
class ToyModel {
 public:
  explicit ToyModel(std::string name) { graph_.model = std::move(name); }

  std::int64_t input(ValueSpec spec) {
    const std::int64_t value = add_value(-1, std::move(spec));
    graph_.inputs.push_back(value);
    return value;
  }
  std::int64_t weight(const std::string& name, Shape shape, bool is_parameter = true,
                      bool is_trainable = true) {
    model::GraphWeight weight{.name = name, .shape = std::move(shape)};
    weight.size_bytes = 4 * static_cast<std::uint64_t>(*element_count(weight.shape));
    weight.is_parameter = is_parameter;
    weight.is_trainable = is_parameter && is_trainable;
    graph_.weights.push_back(std::move(weight));
    return static_cast<std::int64_t>(graph_.weights.size()) - 1;
  }
  std::int64_t add(const std::string& kind, const std::string& scope,
                   const std::vector<std::int64_t>& inputs, ValueSpec spec, double flops = 0,
                   std::vector<std::int64_t> weights = {}) {
    const auto position = static_cast<std::int64_t>(graph_.operators.size());
    const std::int64_t made = add_value(position, std::move(spec));
    model::Operator op;
    op.kind = kind;
    op.scope = scope;
    op.inputs = inputs;
    op.outputs = {made};
    op.weights = std::move(weights);
    op.flops_per_sample = flops;
    graph_.operators.push_back(std::move(op));
    for (const std::int64_t value : inputs) {
      graph_.values[static_cast<std::size_t>(value)].users.push_back(position);
    }
    return made;
  }
  model::Graph returning(std::int64_t value) {
    graph_.outputs = {value};
    graph_.values[static_cast<std::size_t>(value)].is_output = true;
    return std::move(graph_);
  }

 private:
  std::int64_t add_value(std::int64_t producer, ValueSpec spec) {
    const std::size_t number = graph_.values.size();
    model::GraphValue value;
    value.name = "v" + std::to_string(number);
    value.producer = producer;
    value.spec = std::move(spec);
    graph_.values.push_back(std::move(value));
    return static_cast<std::int64_t>(number);
  }
  model::Graph graph_;
};

inline model::Graph two_branches(const std::string& name = "toy") {
  ToyModel toy(name);
  const std::int64_t x = toy.input(tensor_spec({3, 8, 8}));
  const std::int64_t stem =
      toy.add("aten::conv2d", "stem.conv", {x}, tensor_spec({4, 8, 8}), 5000,
              {toy.weight("stem.conv.weight", {4, 3, 3, 3}), toy.weight("stem.conv.bias", {4})});
  const std::int64_t act = toy.add("aten::relu", "stem.act", {stem}, tensor_spec({4, 8, 8}), 256);
  const std::int64_t left = toy.add("aten::conv2d", "left", {act}, tensor_spec({4, 8, 8}), 3000,
                                    {toy.weight("left.weight", {4, 4, 1, 1}, true, false)});
  const std::int64_t right = toy.add("aten::conv2d", "right.0", {act}, tensor_spec({6, 8, 8}), 4000,
                                     {toy.weight("right.0.weight", {6, 4, 1, 1})});
  const std::int64_t norm =
      toy.add("aten::batch_norm", "right.1", {right}, tensor_spec({6, 8, 8}), 768,
              {toy.weight("right.1.weight", {6}), toy.weight("right.1.running_mean", {6}, false)});
  ValueSpec number;
  number.leaf = std::int64_t{8};
  toy.add("aten::size", "", {norm}, number);
  ValueSpec list;
  list.kind = ValueSpec::Kind::kList;
  list.items = {tensor_spec({4, 8, 8}), tensor_spec({6, 8, 8})};
  const std::int64_t both = toy.add("prim::ListConstruct", "", {left, norm}, list);
  return toy.returning(toy.add("aten::cat", "", {both}, tensor_spec({10, 8, 8})));
}

}  // namespace pareto::test
