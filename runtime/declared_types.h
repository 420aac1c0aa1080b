// Values of an archive next to the types that its code declares. It includes LibTorch: include it
// only in sources of runtime and their tests.
#pragma once

#include <torch/script.h>

#include "core/base/error.h"

namespace pareto::runtime {

/// Checks that the module's values are of their types. LibTorch takes them from the file as they
/// are, and reads past the end of an object or a tuple that is shorter than its type.
/// - Each attribute of an object is of the type that the object's class declares.
/// - Lists and dictionaries hold what they say they hold.
/// - Constants of all graphs are of the types that their graphs know.
///
/// A value in several places is looked at once for each type. All functions of its archive are
/// defined. Fails: kCorrupt, with the attribute and its class. May throw c10::Error.
Expected<> check_declared_types(const torch::jit::Module& module);

}  // namespace pareto::runtime
