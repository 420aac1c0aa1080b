// Files as the bytes of them that decide which format they have.
#pragma once

#include <algorithm>
#include <string>

#include "partitioner/model/readers/file_ends.h"

namespace pareto::test {

/// Returns the ends of a file that holds these bytes.
inline model::FileEnds ends_of(const std::string& bytes) {
  const std::size_t most = std::min(bytes.size(), model::FileEnds::kMostBytes);
  return {bytes.substr(0, most), bytes.substr(bytes.size() - most)};
}

/// Returns a text between the marks that a zip archive begins and ends with.
inline std::string zip_of(const std::string& text) { return "PK\x03\x04" + text + "PK\x05\x06"; }

}  // namespace pareto::test
