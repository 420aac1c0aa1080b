#include "core/base/machine_load.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file.h"
#include "core/base/text.h"

namespace pareto {
namespace {

constexpr std::uint64_t kLargestStat = 4 << 20;

/// The words of "cpu  55978 0 12120 …" that are counted: user, nice, system, steal.
constexpr std::array<std::size_t, 4> kCounted{1, 2, 3, 8};

template <typename Number>
Number number_of(std::string_view word) {
  Number number{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() ? number : Number{};
}

/// "cpu0", "cpu17", and not "cpu".
bool is_one_core(std::string_view word) {
  return word.size() > 3 && word.starts_with("cpu") &&
         std::all_of(word.begin() + 3, word.end(), [](unsigned char c) { return std::isdigit(c); });
}

}  // namespace

MachineLoad machine_load(const std::filesystem::path& proc) {
  MachineLoad result;
  const std::int64_t ticks_per_second = std::max<std::int64_t>(::sysconf(_SC_CLK_TCK), 1);
  for (const std::string& line :
       split_list(read_file(proc / "stat", kLargestStat).value_or(""), '\n')) {
    if (!line.starts_with("cpu")) break;
    const std::vector<std::string> words = split_list(line, ' ');
    if (!words.empty() && is_one_core(words[0])) ++result.processors;
    if (words.empty() || words[0] != "cpu") continue;
    std::int64_t ticks = 0;
    for (const std::size_t word : kCounted) {
      if (word < words.size())
        ticks += std::max<std::int64_t>(number_of<std::int64_t>(words[word]), 0);
    }
    result.busy = Nanoseconds(ticks * (1'000'000'000 / ticks_per_second));
  }
  const std::string load = read_file(proc / "loadavg", kLargestStat).value_or("");
  result.load = number_of<double>(std::string_view(load).substr(0, load.find(' ')));
  return result;
}

}  // namespace pareto
