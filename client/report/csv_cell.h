// Texts as cells of CSV (RFC 4180).
#pragma once

#include <string>

namespace pareto::report {

/// Returns a text with quotes around it if it holds a separator, a quote or a line break. Quotes
/// inside are doubled.
std::string csv_cell(const std::string& text);

}  // namespace pareto::report
