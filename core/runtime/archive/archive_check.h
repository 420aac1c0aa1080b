// Checks a TorchScript archive before LibTorch reads it, because some bytes would end the process.
#pragma once

#include <istream>

#include "core/base/error.h"

namespace pareto::runtime {

/// Checks the archive's code and values before LibTorch reads them:
/// - They nest no deeper than a stack bears (code_nesting.h, class_bodies.h, definition_chain.h).
/// - No value is taken where there is none (pickle_check.h).
/// - Records of weights are as large as the tensors in them say.
/// Leaves the stream at its beginning.
/// Fails: kCorrupt. An archive that cannot be read at all passes: LibTorch says why it refuses it.
Expected<> check_archive(std::istream& archive);

}  // namespace pareto::runtime
