// Values that a shard keeps from request to request. It includes LibTorch: include it only in
// sources of runtime and their tests.
#pragma once

#include <torch/script.h>

#include "core/base/error.h"

namespace pareto::runtime {

/// Checks that nothing that a module keeps can grow from request to request:
/// - Attributes of the module, and of all objects in it or in a constant, are tensors, numbers,
///   texts and objects.
/// - No graph changes a list or a dictionary that is a constant: each run would find what the last
///   one left.
/// - No function that "run" calls writes to a tensor of its constants.
///
/// All functions of its archive are defined. Fails: kPermission. May throw c10::Error.
Expected<> check_kept_values(const torch::jit::Module& module);

/// Checks that a graph writes to no tensor that is a constant, or in one. Fails: kPermission.
Expected<> check_written_constants(torch::jit::Graph& graph);

/// Checks that no container in a type holds values of any type, and that classes are those that
/// shards may use (archive/code_calls.h). Fails: kPermission.
Expected<> check_value_type(const c10::TypePtr& type);

}  // namespace pareto::runtime
