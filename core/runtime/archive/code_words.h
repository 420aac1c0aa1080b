// The characters of names and numbers in TorchScript code.
#pragma once

#include <cctype>

namespace pareto::runtime {

/// Returns whether a character may stand in a name.
inline bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace pareto::runtime
