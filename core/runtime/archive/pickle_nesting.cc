#include "core/runtime/archive/pickle_nesting.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/runtime/archive/code_nesting.h"

namespace pareto::runtime {
namespace {

/// The function whose last argument is a type in words.
constexpr std::string_view kTypeTag = "torch.jit._pickle\nrestore_type_tag";

/// A pickle's machine, of which nothing is kept of a value but how deep it is.
class PickleScan {
 public:
  explicit PickleScan(std::string_view pickle) : rest_(pickle) {}

  Expected<> run() {
    while (!rest_.empty() && !ended_) {
      const auto instruction = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      PARETO_TRY(step(instruction));
    }
    return {};
  }

 private:
  using Id = std::uint32_t;
  struct Item {
    std::uint32_t depth = 0;
    Id last = 0;            ///< what came last into it
    std::string_view text;  ///< of a string, or a function's name
  };
  struct Entry {
    Id id = 0;
    bool got = false;  ///< from the memo
  };

  Expected<> step(unsigned char instruction) {
    switch (instruction) {
      case 0x80:  // PROTO
        take(1);
        return {};
      case 'N':
      case 0x88:
      case 0x89:
        return push(0, {});
      case 'K':
        return push(0, take(1));
      case 'M':
        return push(0, take(2));
      case 'J':
        return push(0, take(4));
      case 'G':
        return push(0, take(8));
      case 0x8a:  // LONG1
        return push(0, take(number(1)));
      case 'U':
        return push(0, take(number(1)));
      case 'X':
      case 'T':
        return push(0, take(number(4)));
      case 'c':
        return push(0, two_lines());
      case ')':
      case ']':
      case '}':
        return push(1, {});
      case '(':
        marks_.push_back(stack_.size());
        return {};
      case 't':
      case 'l':
      case 'd':
        return gather(since_mark());
      case 0x85:  // TUPLE1 to TUPLE3
      case 0x86:
      case 0x87:
        return gather(instruction - 0x84U);
      case 'a':
      case 'b':
        return add(1);
      case 's':
        return add(2);
      case 'e':
      case 'u':
        return add(since_mark());
      case 'R':
      case 0x81:  // NEWOBJ
        return call();
      case 'Q':
        return gather(1);
      case 'q':
        return put(number(1));
      case 'r':
        return put(number(4));
      case 'h':
        return get(number(1));
      case 'j':
        return get(number(4));
      default:
        ended_ = true;
        return {};
    }
  }

  std::string_view take(std::size_t count) {
    if (count > rest_.size()) ended_ = true;
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  /// Little-endian.
  std::size_t number(std::size_t bytes) {
    std::size_t value = 0;
    const std::string_view taken = take(bytes);
    for (std::size_t i = taken.size(); i > 0; --i) {
      value = value << 8 | static_cast<unsigned char>(taken[i - 1]);
    }
    return value;
  }
  std::string_view two_lines() {
    const std::size_t first = rest_.find('\n');
    const std::size_t second =
        first == std::string_view::npos ? first : rest_.find('\n', first + 1);
    if (second == std::string_view::npos) {
      ended_ = true;
      return {};
    }
    const std::string_view lines = take(second);
    take(1);
    return lines;
  }

  Expected<> push(std::uint32_t depth, std::string_view text, Id last = 0) {
    if (depth > kDeepestValue) {
      return fail(ErrorCode::kCorrupt, "its values nest deeper than {} levels", kDeepestValue);
    }
    stack_.push_back({static_cast<Id>(items_.size()), false});
    items_.push_back({depth, last, text});
    return {};
  }
  std::size_t since_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) {
      ended_ = true;
      return 0;
    }
    const std::size_t count = stack_.size() - marks_.back();
    marks_.pop_back();
    return count;
  }
  /// Takes the topmost values away: how deep the deepest is, and which was on top.
  std::pair<std::uint32_t, Id> pop(std::size_t count) {
    if (count > stack_.size()) {
      ended_ = true;
      return {};
    }
    const Id top = count > 0 ? stack_.back().id : 0;
    std::uint32_t deepest = 0;
    for (; count > 0; --count) {
      deepest = std::max(deepest, items_[stack_.back().id].depth);
      stack_.pop_back();
    }
    return {deepest, top};
  }
  Expected<> gather(std::size_t count) {
    const auto [deepest, top] = pop(count);
    return push(deepest + 1, {}, top);
  }
  /// Puts the topmost values into the one below them.
  Expected<> add(std::size_t count) {
    const auto [deepest, top] = pop(count);
    if (ended_ || stack_.empty()) return {};
    // What has been put into others already would make these deeper, unseen.
    if (stack_.back().got) {
      return fail(ErrorCode::kCorrupt, "it changes a value after it was put into another");
    }
    Item& changed = items_[stack_.back().id];
    changed.depth = std::max(changed.depth, deepest + 1);
    changed.last = top;
    if (changed.depth <= kDeepestValue) return {};
    return fail(ErrorCode::kCorrupt, "its values nest deeper than {} levels", kDeepestValue);
  }
  Expected<> call() {
    const auto [deepest, arguments] = pop(1);
    const auto [none, function] = pop(1);
    if (ended_) return {};
    if (items_[function].text == kTypeTag) {
      PARETO_TRY(with_context(check_nesting(items_[items_[arguments].last].text), "a type"));
    }
    return push(deepest + 1, {});
  }
  Expected<> put(std::size_t place) {
    if (!stack_.empty()) memo_[place] = stack_.back().id;
    return {};
  }
  Expected<> get(std::size_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) {
      ended_ = true;
      return {};
    }
    stack_.push_back({found->second, true});
    return {};
  }

  std::string_view rest_;
  bool ended_ = false;
  std::vector<Item> items_{1};
  std::vector<Entry> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::size_t, Id> memo_;
};

}  // namespace

Expected<> check_value_nesting(std::string_view pickle) { return PickleScan(pickle).run(); }

}  // namespace pareto::runtime
