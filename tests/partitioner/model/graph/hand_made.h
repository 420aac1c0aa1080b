// Graphs made by hand: operators in a row, each reading values by name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "partitioner/model/graph/graph.h"

namespace pareto::test {

inline ValueSpec tensor_spec(std::vector<SymbolicDim> dims) {
  ValueSpec spec;
  spec.kind = ValueSpec::Kind::kTensor;
  spec.tensor.dims = std::move(dims);
  return spec;
}

class HandMade {
 public:
  /// Adds a float32 tensor of [batch, features].
  HandMade& input(const std::string& name, std::int64_t features = 4) {
    graph_.inputs.push_back(add_value(name, -1, features));
    return *this;
  }
  HandMade& weight(const std::string& name, std::uint64_t bytes) {
    graph_.weights.push_back(
        {name, DType::kFloat32, {static_cast<std::int64_t>(bytes / 4)}, true, bytes});
    return *this;
  }
  /// Adds one operator with one result, named `name`.
  HandMade& op(const std::string& name, const std::string& kind, const std::string& scope,
               const std::vector<std::string>& reads, double flops = 1,
               const std::vector<std::int64_t>& weights = {}) {
    const auto position = static_cast<std::int64_t>(graph_.operators.size());
    model::Operator made;
    made.kind = kind;
    made.scope = scope;
    made.flops_per_sample = flops;
    made.weights = weights;
    for (const std::string& read : reads) {
      made.inputs.push_back(values_.at(read));
      value(read).users.push_back(position);
    }
    made.outputs.push_back(add_value(name, position, 4));
    graph_.operators.push_back(std::move(made));
    return *this;
  }
  HandMade& output(const std::string& name) {
    graph_.outputs.push_back(values_.at(name));
    value(name).is_output = true;
    return *this;
  }
  model::GraphValue& value(const std::string& name) {
    return graph_.values[static_cast<std::size_t>(values_.at(name))];
  }
  std::int64_t index(const std::string& name) const { return values_.at(name); }
  const model::Graph& graph() const { return graph_; }

 private:
  std::int64_t add_value(const std::string& name, std::int64_t producer, std::int64_t features) {
    const auto index = static_cast<std::int64_t>(graph_.values.size());
    graph_.values.push_back({name, producer, {}, false, tensor_spec({{0, 1}, {features, 0}}), {}});
    values_[name] = index;
    return index;
  }

  model::Graph graph_;
  std::map<std::string, std::int64_t> values_;
};

}  // namespace pareto::test
