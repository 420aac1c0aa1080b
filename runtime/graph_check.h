// Checks what LibTorch made of a shard's code, before any of it runs. It includes LibTorch: include
// it only in sources of runtime and their tests.
#pragma once

#include <torch/script.h>

#include "core/base/error.h"

namespace pareto::runtime {

/// Checks every function of the module and of the archive it came from:
/// - Each node is an operator that shards may use (archive/operator_review.h).
/// - Calls lead to functions of the archive.
/// - No operator writes its result into a tensor that it is given.
/// - No cast takes a value for what it is not (torch/sound_casts.h), and the values of the archive
///   are of their types (declared_types.h).
/// - No container holds values of any type: it could hold itself, and freeing it would use up the
///   stack.
/// - Nothing that the module keeps can grow from request to request (kept_values.h).
///
/// The code was checked before (archive/code_calls.h): this is the second wall.
/// Fails: kPermission, kCorrupt. May throw c10::Error (code that cannot be compiled).
Expected<> check_graphs(const torch::jit::Module& module);

}  // namespace pareto::runtime
