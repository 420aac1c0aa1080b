#include "runtime/archive/pickle_check.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/archive/code_nesting.h"

namespace pareto::runtime {
namespace {

/// The function whose last argument is a type in words.
constexpr std::string_view kTypeTag = "torch.jit._pickle\nrestore_type_tag";

/// Pickles that begin otherwise LibTorch refuses.
constexpr std::string_view kStart = "\x80\x02";

/// Size of an element of a storage, from its class: "torch\nFloatStorage". The largest for one
/// unknown.
std::uint64_t element_size(std::string_view storage) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 19> kSizes{{
      {"Double", 8},      {"Float", 4},    {"Half", 2},           {"BFloat16", 2},
      {"Long", 8},        {"Int", 4},      {"Short", 2},          {"Char", 1},
      {"Byte", 1},        {"Bool", 1},     {"ComplexDouble", 16}, {"ComplexFloat", 8},
      {"ComplexHalf", 4}, {"QUInt8", 1},   {"QInt8", 1},          {"QInt32", 4},
      {"QUInt4x2", 1},    {"QUInt2x4", 1}, {"UInt16", 2},
  }};
  for (const auto& [name, size] : kSizes) {
    if (storage == fmt::format("torch\n{}Storage", name)) return size;
  }
  return 16;
}

/// A pickle's machine, of which nothing is kept of a value but how deep it is. Threads: one owner.
class PickleScan {
 public:
  explicit PickleScan(std::string_view pickle) : size_(pickle.size()), rest_(pickle) {}

  Expected<ClaimedBytes> run() {
    if (!rest_.starts_with(kStart)) return ClaimedBytes{};
    rest_.remove_prefix(kStart.size());
    while (!rest_.empty() && !ended_) {
      const auto instruction = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      PARETO_TRY(step(instruction));
    }
    if (!truncated_) return std::move(claimed_);
    return fail(ErrorCode::kCorrupt, "its values end in the middle of one");
  }

 private:
  using Id = std::uint32_t;
  static constexpr std::size_t kStorageElements = 5;
  struct Item {
    std::uint32_t depth = 0;
    Id last = 0;            ///< id of what came last into it
    std::string_view text;  ///< text of a string, or a function's name
    std::optional<std::int64_t> number{};
  };
  struct Entry {
    Id id = 0;
    bool got = false;  ///< true if it came from the memo
  };

  Expected<> step(unsigned char instruction) {
    switch (instruction) {
      case 'N':
      case 0x88:
      case 0x89:
        return push(0, {});
      case 'K':
        return push_number(1);
      case 'M':
        return push_number(2);
      case 'J':
        return push_number(4);
      case 'G':
        return push(0, take(8));
      case 0x8a:  // LONG1
        return push_number(number(1));
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
        return gather_tuple();
      case 'l':
        return gather_from_mark();
      case 'd':
        PARETO_TRY(check_pairs());
        return gather_from_mark();
      case 0x85:  // TUPLE1 to TUPLE3
      case 0x86:
      case 0x87:
        return gather(instruction - 0x84U);
      case 'a':
      case 'b':
        return add(1);
      case 's':
        return add(2);
      case 'u':
        PARETO_TRY(check_pairs());
        return add_from_mark();
      case 'e':
        return add_from_mark();
      case 'R':
      case 0x81:  // NEWOBJ
        return call();
      case 'Q':
        return claim();
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
    if (count > rest_.size()) truncated_ = ended_ = true;
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
      truncated_ = ended_ = true;
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
  /// Pushes a whole number of that many bytes; only numbers of one and two bytes have no sign.
  Expected<> push_number(std::size_t bytes) {
    if (bytes > sizeof(std::int64_t)) return push(0, take(bytes));
    const std::uint64_t value = number(bytes);
    const bool is_signed = bytes > 2;
    const std::size_t unused = 8 * (sizeof(std::int64_t) - bytes);
    PARETO_TRY(push(0, {}));
    items_.back().number = is_signed && unused < 64
                               ? static_cast<std::int64_t>(value << unused) >> unused
                               : static_cast<std::int64_t>(value);
    return {};
  }
  static tl::unexpected<Error> nothing_there() {
    return fail(ErrorCode::kCorrupt, "its values take one where there is none");
  }
  /// Returns how many values are above the last mark.
  Expected<std::size_t> since_mark() const {
    if (marks_.empty() || marks_.back() > stack_.size()) return nothing_there();
    return stack_.size() - marks_.back();
  }
  /// Checks that keys and values above the last mark are equally many.
  Expected<> check_pairs() const {
    PARETO_ASSIGN(const std::size_t count, since_mark());
    if (count % 2 == 0) return {};
    return fail(ErrorCode::kCorrupt, "its values have a key without a value");
  }
  Expected<> gather_from_mark() {
    PARETO_ASSIGN(const std::size_t count, since_mark());
    marks_.pop_back();
    return gather(count);
  }
  Expected<> add_from_mark() {
    PARETO_ASSIGN(const std::size_t count, since_mark());
    marks_.pop_back();
    return add(count);
  }
  /// A value that was taken from the stack.
  struct Taken {
    std::uint32_t deepest = 0;
    Id top = 0;
  };
  Expected<Taken> pop(std::size_t count) {
    if (count > stack_.size()) return nothing_there();
    Taken taken;
    if (count > 0) taken.top = stack_.back().id;
    for (; count > 0; --count) {
      taken.deepest = std::max(taken.deepest, items_[stack_.back().id].depth);
      stack_.pop_back();
    }
    return taken;
  }
  Expected<> gather(std::size_t count) {
    PARETO_ASSIGN(const Taken taken, pop(count));
    return push(taken.deepest + 1, {}, taken.top);
  }
  /// Gathers a tuple, and remembers its elements if it may name a storage.
  Expected<> gather_tuple() {
    PARETO_ASSIGN(const std::size_t count, since_mark());
    std::array<Id, kStorageElements> elements{};
    for (std::size_t i = 0; i < std::min(count, kStorageElements); ++i) {
      elements[i] = stack_[stack_.size() - count + i].id;
    }
    PARETO_TRY(gather_from_mark());
    if (count >= kStorageElements) storages_[stack_.back().id] = elements;
    return {};
  }
  /// Notes what a storage takes for granted: ("storage", its class, its record, a device, its
  /// elements).
  Expected<> claim() {
    if (stack_.empty()) return nothing_there();
    if (const auto found = storages_.find(stack_.back().id); found != storages_.end()) {
      const std::int64_t elements = items_[found->second[4]].number.value_or(0);
      std::uint64_t bytes = 0;
      if (elements < 0 ||
          __builtin_mul_overflow(static_cast<std::uint64_t>(elements),
                                 element_size(items_[found->second[1]].text), &bytes)) {
        return fail(ErrorCode::kCorrupt, "its values have a tensor of {} elements", elements);
      }
      std::uint64_t& most = claimed_[std::string(items_[found->second[2]].text)];
      most = std::max(most, bytes);
    }
    return gather(1);
  }
  /// Puts the topmost values into the one below them.
  Expected<> add(std::size_t count) {
    PARETO_ASSIGN(const Taken taken, pop(count));
    if (stack_.empty()) return nothing_there();
    // What has been put into others already would make these deeper, unseen.
    if (stack_.back().got) {
      return fail(ErrorCode::kCorrupt, "it changes a value after it was put into another");
    }
    Item& changed = items_[stack_.back().id];
    changed.depth = std::max(changed.depth, taken.deepest + 1);
    changed.last = taken.top;
    if (changed.depth <= kDeepestValue) return {};
    return fail(ErrorCode::kCorrupt, "its values nest deeper than {} levels", kDeepestValue);
  }
  Expected<> call() {
    PARETO_ASSIGN(const Taken arguments, pop(1));
    PARETO_ASSIGN(const Taken function, pop(1));
    if (items_[function.top].text == kTypeTag) {
      PARETO_TRY(with_context(check_nesting(items_[items_[arguments.top].last].text), "a type"));
    }
    return push(arguments.deepest + 1, {});
  }
  Expected<> put(std::size_t place) {
    if (stack_.empty()) return nothing_there();
    // Places are counted up from 0, and each takes an instruction.
    if (place >= size_) return fail(ErrorCode::kCorrupt, "its values have no place {}", place);
    memo_[place] = stack_.back().id;
    return {};
  }
  Expected<> get(std::size_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) return nothing_there();
    stack_.push_back({found->second, true});
    return {};
  }

  const std::size_t size_;
  std::string_view rest_;
  bool ended_ = false;
  bool truncated_ = false;  ///< an instruction lacks its bytes
  std::vector<Item> items_{1};
  std::vector<Entry> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::size_t, Id> memo_;
  std::unordered_map<Id, std::array<Id, kStorageElements>> storages_;
  ClaimedBytes claimed_;
};

}  // namespace

Expected<ClaimedBytes> check_values(std::string_view pickle) { return PickleScan(pickle).run(); }

}  // namespace pareto::runtime
