// Checks a TorchScript archive before LibTorch reads it, because some bytes would end the process.
#pragma once

#include <istream>

#include "core/base/error.h"

namespace pareto::runtime {

/// Checks the archive's code and values: they nest no deeper than a stack bears, nothing is taken
/// where there is nothing (code_nesting.h, class_bodies.h, definition_chain.h, pickle_check.h), and
/// records of weights are as large as the tensors in them say. Leaves the stream at its beginning.
/// Fails: kCorrupt. What can't be read at all passes: LibTorch says why it refuses that.
Expected<> check_archive(std::istream& archive);

}  // namespace pareto::runtime
