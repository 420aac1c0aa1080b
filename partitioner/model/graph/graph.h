// The model as operators and values in one topological order, free of LibTorch: what split points,
// costs, searches and tables are computed from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/value_spec.h"
#include "partitioner/model/graph/varying_size.h"

namespace pareto::model {

/// The layout in memory of a tensor that is a view (transposed, sliced). Its dimensions cross a
/// boundary in the order of memory, dense, and mostly without a copy. On the far side it gets the
/// strides that later operators would have seen. With other strides they may sum in another order.
struct MemoryLayout {
  std::vector<std::int64_t> order;  ///< dimensions, outermost in memory first; empty: row-major
  /// Gaps in that order: places of each dimension that memory holds beyond its size; empty: none.
  std::vector<std::int64_t> gaps;
  std::int64_t step = 1;                 ///< distance of neighbours in the innermost one
  std::vector<std::int64_t> repeated{};  ///< dimensions whose places share one memory (expand)

  bool operator==(const MemoryLayout&) const = default;
};

/// A value of the graph: an input of the model or what an operator produced. Constants and weights
/// are none.
struct GraphValue {
  std::string name;  ///< unique in the model
  std::int64_t producer =
      -1;  ///< position of the operator that makes it; -1: an input of the model
  /// Positions of the operators that read it, ascending; inner blocks count at the operator holding
  /// them.
  std::vector<std::int64_t> users;
  bool is_output = false;  ///< returned by the model
  ValueSpec spec;
  MemoryLayout layout;      ///< layout of a tensor
  SizeExpressions sizes{};  ///< dimensions that follow sizes of the inputs; `spec` has one of those
};

struct Operator {
  std::string kind;                   ///< "aten::_convolution", "prim::If"
  std::string scope;                  ///< module path: "features.5.conv.0.0"; "" at the root
  std::vector<std::int64_t> inputs;   ///< indices into Graph::values
  std::vector<std::int64_t> outputs;  ///< indices into Graph::values
  std::vector<std::int64_t> weights;  ///< indices into Graph::weights
  std::int64_t inner_operators =
      0;  ///< operators in its blocks: control flow that could not be flattened, never cut through
  double flops_per_sample = 0;  ///< multiply and add count as two
  bool uses_random = false;     ///< or other hidden state
  bool is_random = false;       ///< draws random numbers
  /// A dropout that is always on, wherever its module was in eval mode: F.dropout(x) without
  /// `training`.
  bool always_drops = false;
  /// Steps of a loop that takes a constant number, and was too long to unroll.
  std::int64_t steps = 0;
  bool trains =
      false;  ///< drops values or takes statistics of the batch, as before eval() was called
  /// Operators that must run before it although it reads none of their values, ascending. They
  /// touch memory that it writes, or write memory that it touches, or both have hidden state.
  std::vector<std::int64_t> after{};
};

struct GraphWeight {
  std::string name;  ///< state_dict name
  DType dtype = DType::kFloat32;
  Shape shape;
  bool is_parameter = true;
  std::uint64_t size_bytes = 0;
  bool is_written = false;  ///< true if the model writes it as it runs
  /// Weights of a quantised layer, which stay in the code of the shards that use them. They stand
  /// after all others, which alone are weights of the flat graph and have digests.
  bool is_packed = false;
  /// A parameter that is not frozen: it requires a gradient, or no parameter of the model does.
  bool is_trainable = false;
};

/// Operators that no cut may part, as indices into Graph::operators.
struct Tie {
  Tie() = default;
  Tie(std::initializer_list<std::int64_t> tied, std::string reason = {})
      : operators(tied), why(std::move(reason)) {}

  std::vector<std::int64_t> operators;
  std::string why;  ///< names the value and the operator that forbid a cut between them
};
using Ties = std::vector<Tie>;

struct Graph {
  std::string model;
  std::vector<GraphValue> values;
  std::vector<Operator> operators;
  std::vector<GraphWeight> weights;
  std::vector<std::int64_t> inputs;  ///< indices into values, in the order of the model's arguments
  std::vector<std::int64_t> outputs;  ///< indices into values
  /// Operators that no cut may part (partitioner/model/graph/groups.h), each in one group, in a
  /// topological order. Empty where the graph was not examined: then each operator is one.
  std::vector<std::vector<std::int64_t>> groups{};
  Ties ties{};                       ///< reasons for the groups: each tie lies in one of them
  std::vector<VaryingSize> sizes{};  ///< sizes of the inputs that vary
};

/// Returns the total size of all weights, in bytes.
inline std::uint64_t weight_bytes(const Graph& graph) {
  std::uint64_t bytes = 0;
  for (const GraphWeight& weight : graph.weights) bytes += weight.size_bytes;
  return bytes;
}

/// Returns a value's spec with the sizes that it follows: "float32[Bx64xH/4xW/4]".
std::string describe(const Graph& graph, const GraphValue& value);

/// Returns whether two runs on the same inputs may differ.
inline bool draws_random_numbers(const Graph& graph) {
  return std::any_of(graph.operators.begin(), graph.operators.end(),
                     [](const Operator& op) { return op.is_random; });
}

}  // namespace pareto::model
