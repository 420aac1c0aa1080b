// Patterns by which a user's program names modules and kinds of operators. Free of LibTorch.
#pragma once

#include <cstddef>
#include <string_view>

namespace pareto::schedules {

/// Returns whether a text fits a pattern: `*` stands for any characters, `?` for one.
bool fits(std::string_view text, std::string_view pattern);

/// Returns whether a kind fits a pattern, "aten::conv2d". A pattern without "::" fits the kind of
/// any namespace.
bool fits_kind(std::string_view kind, std::string_view pattern);

/// Returns the length of the shortest beginning of a module path that fits a pattern; 0 if there is
/// none. `*` and `?` stand for characters of one name, and `**` for any number of names: of
/// "features.3.conv.0", "features.*" finds "features.3", and "**.conv" finds "features.3.conv".
std::size_t fitting_module(std::string_view path, std::string_view pattern);

}  // namespace pareto::schedules
