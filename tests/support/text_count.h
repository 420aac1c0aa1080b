// How often a text stands in a file that a program still writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace pareto::test {

/// Counts a text in a file that only grows. Each byte is read once, however often somebody asks.
/// Threads: one owner.
class TextCount {
 public:
  /// The file need not be there yet.
  TextCount(std::string path, std::string text);
  /// Returns how often the text stands in what the file has so far.
  std::size_t count();

 private:
  std::string path_;
  std::string text_;
  std::string tail_;  ///< the last bytes that were read: a text may begin in them
  std::uint64_t read_bytes_ = 0;
  std::size_t count_ = 0;
};

}  // namespace pareto::test
