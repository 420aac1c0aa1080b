// Makes texts of other programs fit for a terminal. Such texts may contain anything.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pareto {

/// Returns whether the bytes are UTF-8 without control characters: neither C0 nor C1, nor
/// those that end lines or turn the direction of text.
bool is_printable(std::string_view bytes);
/// Returns at most `most` bytes of the text, whole characters; a blank in place of each byte that
/// is none, or controls something.
std::string printable(std::string_view bytes, std::size_t most = 300);
/// Returns the whole text, with a blank in place of each such byte; its lines stay.
std::string printable_lines(std::string_view bytes);

}  // namespace pareto
