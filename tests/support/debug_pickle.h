// Records of an archive that say which line of Python its code came from, made by hand.
#pragma once

#include <string>

namespace pareto::test {

/// Returns such a record of one line, whose file's name is far outside of its table of texts.
inline std::string debug_pickle_out_of_bounds() {
  const auto text = [](const std::string& bytes) {
    return std::string("X") + static_cast<char>(bytes.size()) + std::string(3, '\0') + bytes;
  };
  const std::string zero("K\0", 2);
  const std::string lines = "ctorch.jit._pickle\nbuild_intlist\n(](" + zero + "etR";
  const std::string source = "(" + lines + "J\xff\xff\xff\x7f" + zero + "t";
  const std::string range = "(" + source + zero + "K\1t";
  return "\x80\x02(" + text("FORMAT_WITH_STRING_TABLE") + "(" + text("a") + "t((" + zero + range +
         "Ntt" + "t.";
}

}  // namespace pareto::test
