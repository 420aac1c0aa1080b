// The statements of the classes of a TorchScript archive. LibTorch takes an attribute's type, or a
// constant's value, from where it expects it, and ends the process if nothing is there.
#pragma once

#include <string_view>

#include "core/base/error.h"

namespace pareto::runtime {

/// Checks, in one pass, that each assignment in a class has the type or the value that LibTorch
/// reads there. Fails: kCorrupt with the line. What is no Python at all passes: LibTorch says why
/// it refuses that.
Expected<> check_class_bodies(std::string_view code);

}  // namespace pareto::runtime
