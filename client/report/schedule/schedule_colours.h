// Colours that tell units and workers apart, on light pages and on dark ones.
#pragma once

#include <cstddef>
#include <string_view>

namespace pareto::report::schedule {

/// Returns a strong colour, on which white text can be read. They repeat after ten.
std::string_view strong_colour(std::size_t number);
/// Returns a pale colour, on which black text can be read. They repeat after ten.
std::string_view pale_colour(std::size_t number);

}  // namespace pareto::report::schedule
