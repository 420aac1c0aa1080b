// A shard's graph as training runs it. It includes LibTorch: include it only in sources of
// runtime.
#pragma once

#include <torch/script.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "runtime/torch/compat.h"

namespace pareto::runtime {

/// Returns a copy of a graph in which norms use the batch's statistics and dropout drops. Operators
/// of module paths that `is_frozen` names stay as they are in evaluation. Operators have their
/// module path as scope.
std::shared_ptr<torch::jit::Graph> training_graph(
    const torch::jit::Graph& graph, const std::function<bool(const std::string& path)>& is_frozen);

/// Checks that a graph says what its operators do in training. Fails: kInvalidArgument, naming the
/// module (a norm with momentum=None, which a file keeps as one that never changes its statistics).
Expected<> check_trainable(const torch::jit::Graph& graph,
                           const std::function<bool(const std::string& path)>& is_frozen);

/// Compiles a graph, whose loops then ask whether they shall stop, and whose writes count for a
/// WriteCountScope.
torch::jit::Code compile_graph(const std::shared_ptr<torch::jit::Graph>& graph, const char* name);

/// Runs a graph that returns a tuple. Returns the elements. Throws c10::Error.
std::vector<c10::IValue> run_code(const torch::jit::Code& code, const c10::IValue& self,
                                  std::vector<c10::IValue> arguments);

/// Returns whether an operator of the graph draws random numbers.
bool draws_random_numbers(torch::jit::Graph& graph);

}  // namespace pareto::runtime
