#include "tests/support/text_count.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "tests/support/process.h"

namespace pareto::test {

TextCount::TextCount(std::string path, std::string text)
    : path_(std::move(path)), text_(std::move(text)) {}

std::size_t TextCount::count() {
  std::ifstream file(path_, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(read_bytes_));
  const std::string more{std::istreambuf_iterator<char>(file), {}};
  read_bytes_ += more.size();
  tail_ += more;
  count_ += count_of(text_, tail_);
  if (tail_.size() >= text_.size()) tail_.erase(0, tail_.size() - (text_.size() - 1));
  return count_;
}

}  // namespace pareto::test
