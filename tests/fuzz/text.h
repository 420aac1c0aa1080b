// What the fuzzers of documents share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pareto::fuzz {

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return size == 0 ? std::string() : std::string(reinterpret_cast<const char*>(data), size);
}

}  // namespace pareto::fuzz
