// Casts that LibTorch does not look at. Sees LibTorch: for sources of runtime and their tests only.
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include "core/base/error.h"

namespace pareto::runtime {

/// Checks a node that says of a value that it has another type (prim::unchecked_cast). LibTorch
/// takes its word for it, and would read past the end of a tuple or an object that is shorter.
/// Only a value of another kind is found when it is used: each kind has a tag of its own.
///
/// So these casts may be:
/// - to a wider type, or to the same;
/// - out of an Optional or a Union, or of Any: no value of the same kind may be left in it that
///   is a tuple, a list, a dictionary or an object of another type.
///
/// Fails: kPermission.
Expected<> check_cast(const torch::jit::Node& cast);

}  // namespace pareto::runtime
