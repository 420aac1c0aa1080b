// Text said many times, for input that nests too deep.
#pragma once

#include <cstddef>
#include <string>

namespace pareto::runtime {

inline std::string times(std::size_t count, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

}  // namespace pareto::runtime
