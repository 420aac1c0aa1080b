// What is checked of a TorchScript archive before LibTorch reads it: bytes that its parser would not survive.
#pragma once

#include <istream>

#include "core/base/error.h"

namespace pareto::runtime {

/// Reads the archive's code and values and checks that they nest no deeper than a stack bears (code_nesting.h, definition_chain.h, pickle_nesting.h); weights
/// are not read. Leaves the
/// stream at its beginning. Fails: kCorrupt. What can't be read at all passes: LibTorch says why it refuses that.
Expected<> check_archive(std::istream& archive);

}  // namespace pareto::runtime
