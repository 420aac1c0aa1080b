#include "runtime/archive/definition_chain.h"

#include <algorithm>
#include <vector>

#include "runtime/archive/code_words.h"

namespace pareto::runtime {
namespace {

constexpr std::string_view kRoot = "__torch__";

bool is_of_a_name(char c) { return is_word(c) || c == '.'; }

std::string_view name_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_of_a_name(text[end])) ++end;
  return text.substr(at, end - at);
}

/// Returns "code/__torch__/models/resnet.py" -> "__torch__.models.resnet".
std::string module_of(std::string_view record) {
  std::string name = lower_case(record);
  const std::size_t root = name.find(kRoot);
  name.erase(0, root == std::string::npos ? 0 : root);
  if (name.ends_with(".py")) name.resize(name.size() - 3);
  std::ranges::replace(name, '/', '.');
  return name;
}

/// Returns the name that a line at the left margin defines; empty: none.
std::string_view defined_by(std::string_view line) {
  for (const std::string_view keyword : {"class ", "def "}) {
    if (line.starts_with(keyword)) return name_at(line, keyword.size());
  }
  return {};
}

}  // namespace

void DefinitionChain::add(std::string_view record, std::string_view code) {
  const std::string module = module_of(record);
  std::string name = module;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < code.size();) {
    const std::size_t end = std::min(code.find('\n', at), code.size());
    const std::string_view defined = defined_by(code.substr(at, end - at));
    if (!defined.empty()) {
      add_definition(name, code.substr(begin, at - begin));
      name = module + "." + lower_case(defined);
      begin = at;
    }
    at = end + 1;
  }
  add_definition(name, code.substr(begin));
}

void DefinitionChain::add_definition(const std::string& name, std::string_view text) {
  std::set<std::string>& named = named_by_[name];
  for (std::size_t at = text.find(kRoot); at != std::string_view::npos; at = text.find(kRoot, at)) {
    const std::string_view found = name_at(text, at);
    named.insert(lower_case(found));
    at += found.size();
  }
}

std::string DefinitionChain::definition_of(std::string name) const {
  while (!named_by_.contains(name)) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return "";
    name.resize(dot);
  }
  return name;
}

Expected<> DefinitionChain::check() const {
  // One that is open leads to itself: LibTorch knows it by then.
  struct Open {
    const std::string* name;
    std::set<std::string>::const_iterator next;
    std::size_t longest = 0;
  };
  std::map<std::string_view, std::size_t> lengths;  // 0: open
  std::vector<Open> path;
  const auto open = [&](const std::string& name) {
    const auto found = named_by_.find(name);
    lengths[found->first] = 0;
    path.push_back({&found->first, found->second.begin()});
  };
  for (const auto& [first, named] : named_by_) {
    if (!lengths.contains(first)) open(first);
    while (!path.empty()) {
      Open& here = path.back();
      if (here.next == named_by_.at(*here.name).end()) {
        const std::size_t length = here.longest + 1;
        lengths[*here.name] = length;
        path.pop_back();
        if (!path.empty()) path.back().longest = std::max(path.back().longest, length);
        if (length <= kLongestChain) continue;
        return fail(
            ErrorCode::kCorrupt,
            "its code has more than {} classes and functions that lead from one to the next",
            kLongestChain);
      }
      const std::string name = definition_of(*here.next++);
      if (name.empty()) continue;
      const auto known = lengths.find(name);
      if (known == lengths.end()) {
        open(name);
      } else {
        here.longest = std::max(here.longest, known->second);
      }
    }
  }
  return {};
}

}  // namespace pareto::runtime
