// --help, --version, --manual and --completion from what the whole program said of itself when it
// was built.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/usage_pages.h"

namespace pareto::client {

/// Returns what the whole program would print for arguments that ask for such a thing and for
/// nothing else; no value if it has to be asked.
std::optional<std::string> quick_answer(const std::vector<std::string>& arguments, int columns);
std::optional<std::string> quick_answer(const std::vector<std::string>& arguments, int columns,
                                        const usage::Usage& usage);

/// Returns what the whole program printed for --usage; empty: it could not be run where it was
/// built.
std::string_view usage_of_whole_program();

}  // namespace pareto::client
