#include "runtime/schedules/patterns.h"

#include <algorithm>
#include <vector>

namespace pareto::schedules {
namespace {

std::vector<std::string_view> names_of(std::string_view path) {
  std::vector<std::string_view> names;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    names.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

/// Adds what a `**` that matches nothing leads to.
void skip_any(const std::vector<std::string_view>& pattern, std::vector<bool>& reached) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (reached[i] && pattern[i] == "**") reached[i + 1] = true;
  }
}

}  // namespace

bool fits(std::string_view text, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t next = 0;
  std::size_t star = std::string_view::npos;  // the last star, and where it stopped
  std::size_t stopped = 0;
  while (at < text.size()) {
    if (next < pattern.size() && pattern[next] == '*') {
      star = next++;
      stopped = at;
    } else if (next < pattern.size() && (pattern[next] == '?' || pattern[next] == text[at])) {
      ++next;
      ++at;
    } else if (star != std::string_view::npos) {
      next = star + 1;
      at = ++stopped;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', next) == std::string_view::npos;
}

bool fits_kind(std::string_view kind, std::string_view pattern) {
  if (pattern.find("::") == std::string_view::npos) {
    const std::size_t colons = kind.rfind("::");
    if (colons != std::string_view::npos) kind.remove_prefix(colons + 2);
  }
  return fits(kind, pattern);
}

std::size_t fitting_module(std::string_view path, std::string_view pattern) {
  if (path.empty()) return 0;
  const std::vector<std::string_view> wanted = names_of(pattern);
  std::vector<bool> reached(wanted.size() + 1);  // by the number of names of the pattern
  reached[0] = true;
  skip_any(wanted, reached);
  std::size_t length = 0;
  for (const std::string_view name : names_of(path)) {
    std::vector<bool> next(reached.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!reached[i]) continue;
      if (wanted[i] == "**") {
        next[i] = true;
      } else if (fits(name, wanted[i])) {
        next[i + 1] = true;
      }
    }
    skip_any(wanted, next);
    length += name.size() + (length == 0 ? 0 : 1);
    if (next.back()) return length;
    reached = std::move(next);
  }
  return 0;
}

}  // namespace pareto::schedules
