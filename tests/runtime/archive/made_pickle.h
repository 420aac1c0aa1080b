// Pickles made byte by byte, as LibTorch writes them, good ones and forged ones.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/base/error.h"
#include "runtime/archive/pickle_check.h"

namespace pareto::test {

/// Returns a string as a pickle has it, of at most 127 bytes.
inline std::string text(const std::string& bytes) {
  std::string size(4, '\0');
  size[0] = static_cast<char>(bytes.size());
  return "X" + size + bytes;
}

/// Returns the pickle that makes these values.
inline std::string pickle(const std::string& values) { return "\x80\x02" + values + "."; }

/// Returns a tensor's storage, of elements in one byte.
inline std::string storage(const std::string& type, const std::string& record, char elements) {
  return "(" + text("storage") + "ctorch\n" + type + "\n" + text(record) + text("cpu") + "K" +
         std::string(1, elements) + "tQ";
}

/// Returns a tuple of small whole numbers.
inline std::string numbers(const std::string& bytes) {
  std::string tuple = "(";
  for (const char byte : bytes) tuple += std::string("K") + byte;
  return tuple + "t";
}

/// Returns a tensor in a storage.
inline std::string tensor(const std::string& storage, const std::string& offset,
                          const std::string& sizes, const std::string& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + offset + sizes + strides + "\x89" +
         "ccollections\nOrderedDict\n)RtR";
}

/// Returns a tensor of float32 numbers in a storage of `elements`.
inline std::string floats(char elements, const std::string& offset, const std::string& sizes,
                          const std::string& strides) {
  return tensor(storage("FloatStorage", "0", elements), offset, sizes, strides);
}

inline std::string floats(char elements, char offset, const std::string& sizes,
                          const std::string& strides) {
  return floats(elements, std::string("K") + offset, numbers(sizes), numbers(strides));
}

/// Returns why the values are refused; empty: they are not.
inline std::string refusal_of_values(const std::string& values) {
  const auto checked = runtime::check_values(pickle(values));
  if (checked) return "";
  EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
  return checked.error().message;
}

}  // namespace pareto::test
