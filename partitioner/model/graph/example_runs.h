// Runs of a flat graph on examples of its inputs, and what is seen of its values. Sees LibTorch.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/value_spec.h"
#include "partitioner/model/graph/flat.h"
#include "partitioner/model/graph/graph.h"
#include "partitioner/model/graph/graph_runner.h"
#include "partitioner/model/graph/input_shape.h"
#include "runtime/torch/compat.h"

namespace pareto::model {

/// The seed of the examples that a model is examined on.
inline constexpr std::uint64_t kExampleSeed = 0;

/// Batches that are tried together: shapes are seen at both, or at one alone.
using Attempt = std::vector<std::int64_t>;
/// Batches that files are mostly exported at. They do not say which.
inline constexpr std::array<std::int64_t, 5> kUsualBatches{1, 4, 8, 16, 32};
/// Returns what is tried in turn, until a model runs: kUsualBatches come last, each alone. `named`:
/// batches that somebody wants.
std::vector<Attempt> attempts(const std::vector<InputShape>& shapes,
                              std::vector<std::int64_t> named);

/// Returns arguments of the flat graph: examples of its inputs, and its weights. May throw what
/// LibTorch throws.
Expected<std::vector<c10::IValue>> arguments_at(const Flat& flat,
                                                const std::vector<InputShape>& shapes,
                                                std::int64_t batch, std::uint64_t seed);

/// The values of a run at one batch. Vectors are by Graph::values if nothing else is said.
struct ExampleRun {
  std::int64_t batch = 0;
  std::vector<Expected<Value>> seen;  ///< tensors have shapes and no bytes
  std::vector<MemoryLayout> layouts;
  std::vector<std::string> reasons;  ///< why a value cannot cross, or ""
  std::vector<double> flops;         ///< by operator
  bool knows_ranges = false;         ///< an input has a range: of zeros nothing can be learned
  std::vector<std::optional<IntegerRange>> ranges;
  bool is_of_data = false;  ///< no input was made up
  std::vector<std::vector<std::int64_t>> samples;

  /// Notes one value, by its index in Graph::values.
  void see(std::size_t index, const c10::IValue& value);
};

/// Returns an operator as errors name it: "aten::linear (op 7 in head.fc)".
std::string operator_text(const Graph& graph, std::size_t position);

/// Runs a graph once. Fails: kInvalidArgument (it does not run on such examples; says which
/// operator refuses them, and what may be wrong with them). `reached`, if it is not null, becomes
/// the position of the operator that failed, and the caller names it.
Expected<ExampleRun> run_at(GraphRunner& runner, const Flat& flat, const Graph& graph,
                            const std::vector<InputShape>& shapes, std::int64_t batch,
                            std::uint64_t seed, std::size_t* reached = nullptr);

}  // namespace pareto::model
