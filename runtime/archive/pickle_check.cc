#include "runtime/archive/pickle_check.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/archive/code_nesting.h"
#include "runtime/archive/pickled_values.h"

namespace pareto::runtime {
namespace {

/// The function whose second argument is a type in words.
constexpr std::string_view kTypeTag = "torch.jit._pickle\nrestore_type_tag";
/// Functions of these modules return the list that they are given.
constexpr std::array<std::string_view, 2> kListModules{"torch.jit._pickle\n", "__main__\n"};
/// Names of this module are numbers, but for one function.
constexpr std::string_view kNumberModule = "torch\n";
constexpr std::string_view kDevice = "torch\ndevice";

constexpr std::array<std::string_view, 2> kTensors{"torch._utils\n_rebuild_tensor",
                                                   "torch._utils\n_rebuild_tensor_v2"};
constexpr std::string_view kQuantisedTensor = "torch._utils\n_rebuild_qtensor";
/// Functions that make tensors of which nothing can be known before: of indices that are not
/// compared with sizes, and of what another function makes.
constexpr std::array<std::string_view, 2> kUnknownTensors{"torch._utils\n_rebuild_sparse_tensor",
                                                          "torch._tensor\n_rebuild_from_type_v2"};

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

/// A pickle's machine, of which little is kept of a value but how deep it is. Threads: one owner.
class PickleScan {
 public:
  explicit PickleScan(std::string_view pickle) : size_(pickle.size()), rest_(pickle) {}

  Expected<PickleClaims> run() {
    if (!rest_.starts_with(kStart)) return PickleClaims{};
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
  using Id = PickledValues::Id;
  using Kind = PickledValue::Kind;

  Expected<> step(unsigned char instruction) {
    switch (instruction) {
      case 'N':
        return push({.kind = Kind::kNone});
      case 0x88:
      case 0x89:
        return push({});
      case 'K':
        return push_number(1);
      case 'M':
        return push_number(2);
      case 'J':
        return push_number(4);
      case 'G':
        return push({.text = take(8)});
      case 0x8a:  // LONG1
        return push_number(number(1));
      case 'U':
        return push({.text = take(number(1))});
      case 'X':
      case 'T':
        return push({.text = take(number(4))});
      case 'c':
        return push_function();
      case ')':
        return gather(0, Kind::kTuple);
      case ']':
        return push({.depth = 1, .kind = Kind::kList});
      case '}':
        return push({.depth = 1});
      case '(':
        marks_.push_back(stack_.size());
        return {};
      case 0x85:  // TUPLE1 to TUPLE3
      case 0x86:
      case 0x87:
        return gather(instruction - 0x84U, Kind::kTuple);
      case 't':
      case 'l':
      case 'd':
      case 'u':
      case 'e':
        return step_from_mark(instruction);
      case 'a':
        return add(1);
      case 's':
        return add(2);
      case 'b':
      case 'R':
        return call();
      case 0x81:  // NEWOBJ
        return make();
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
  /// Follows an instruction that takes all values above the last mark.
  Expected<> step_from_mark(unsigned char instruction) {
    if (marks_.empty() || marks_.back() > stack_.size()) return nothing_there();
    const std::size_t count = stack_.size() - marks_.back();
    marks_.pop_back();
    if ((instruction == 'd' || instruction == 'u') && count % 2 != 0) {
      return fail(ErrorCode::kCorrupt, "its values have a key without a value");
    }
    if (instruction == 'u' || instruction == 'e') return add(count);
    return gather(count, instruction == 't' ? Kind::kTuple : Kind::kOther);
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

  static tl::unexpected<Error> nothing_there() {
    return fail(ErrorCode::kCorrupt, "its values take one where there is none");
  }
  /// Checks what a value holds by now.
  Expected<> check_size(const PickledValue& value) const {
    if (value.depth > kDeepestValue) {
      return fail(ErrorCode::kCorrupt, "its values nest deeper than {} levels", kDeepestValue);
    }
    if (value.parts <= size_ + kMostRepeatedParts) return {};
    return fail(ErrorCode::kCorrupt, "its values are more than {}, counted in each place",
                size_ + kMostRepeatedParts);
  }
  Expected<> push(const PickledValue& value) {
    PARETO_TRY(check_size(value));
    stack_.push_back(values_.add(value));
    return {};
  }
  /// Pushes a whole number of that many bytes; only numbers of one and two bytes have no sign.
  Expected<> push_number(std::size_t bytes) {
    if (bytes > sizeof(std::int64_t)) return push({.text = take(bytes)});
    const std::uint64_t value = number(bytes);
    const bool is_signed = bytes > 2;
    const std::size_t unused = 8 * (sizeof(std::int64_t) - bytes);
    return push({.number = is_signed && unused < 64
                               ? static_cast<std::int64_t>(value << unused) >> unused
                               : static_cast<std::int64_t>(value),
                 .kind = Kind::kNumber});
  }
  /// Pushes what has a name. LibTorch has a number for it, too.
  Expected<> push_function() {
    const std::string_view name = two_lines();
    if (std::ranges::find(kUnknownTensors, name) != kUnknownTensors.end()) {
      return fail(ErrorCode::kCorrupt, "its values have a tensor made by {}, which nobody checks",
                  name.substr(name.find('\n') + 1));
    }
    const bool can_be_called = !name.starts_with(kNumberModule) || name == kDevice;
    return push({.text = name, .kind = can_be_called ? Kind::kFunction : Kind::kOther});
  }
  /// A value that was taken from the stack.
  struct Taken {
    std::uint32_t deepest = 0;
    std::uint64_t parts = 0;
    Id top = 0;
  };
  Expected<Taken> pop(std::size_t count) {
    if (count > stack_.size()) return nothing_there();
    Taken taken;
    if (count > 0) taken.top = stack_.back();
    for (; count > 0; --count) {
      taken.deepest = std::max(taken.deepest, values_[stack_.back()].depth);
      taken.parts += values_[stack_.back()].parts;
      stack_.pop_back();
    }
    return taken;
  }
  Expected<> gather(std::size_t count, Kind kind) {
    if (count > stack_.size()) return nothing_there();
    const std::vector<Id> elements(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    PARETO_ASSIGN(const Taken taken, pop(count));
    const PickledValue whole{.parts = taken.parts + 1, .depth = taken.deepest + 1};
    if (kind != Kind::kTuple) return push(whole);
    PARETO_TRY(check_size(whole));
    stack_.push_back(values_.add_tuple(whole, elements));
    return {};
  }
  /// Notes what a storage takes for granted: ("storage", its class, its record, a device, its
  /// elements).
  Expected<> claim() {
    PARETO_ASSIGN(const Taken taken, pop(1));
    const PickledValue tuple = values_[taken.top];
    const PickledValue* const count = values_.element(tuple, 4);
    if (count == nullptr || count->kind != Kind::kNumber) {
      return fail(ErrorCode::kCorrupt,
                  "its values have a tensor of nobody knows how many elements");
    }
    const std::int64_t elements = count->number;
    std::uint64_t bytes = 0;
    if (elements < 0 ||
        __builtin_mul_overflow(static_cast<std::uint64_t>(elements),
                               element_size(values_.element(tuple, 1)->text), &bytes)) {
      return fail(ErrorCode::kCorrupt, "its values have a tensor of {} elements", elements);
    }
    const std::string_view record = values_.element(tuple, 2)->text;
    std::uint64_t& most = claimed_.bytes[std::string(record)];
    most = std::max(most, bytes);
    return push({.text = record,
                 .number = elements,
                 .depth = taken.deepest + 1,
                 .first = tuple.first,
                 .count = tuple.count,
                 .kind = Kind::kStorage});
  }
  /// Puts the topmost values into the one below them.
  Expected<> add(std::size_t count) {
    if (count >= stack_.size()) return nothing_there();
    const std::vector<Id> put(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    PARETO_ASSIGN(const Taken taken, pop(count));
    PickledValue& changed = values_[stack_.back()];
    // A value that others hold already would make these deeper, unseen, or hold itself.
    if (changed.done) {
      return fail(ErrorCode::kCorrupt, "it changes a value after it was put into another");
    }
    changed.depth = std::max(changed.depth, taken.deepest + 1);
    changed.parts += taken.parts;
    if (changed.kind == Kind::kList) values_.extend(changed, put);
    return check_size(changed);
  }
  static tl::unexpected<Error> no_function() {
    return fail(ErrorCode::kCorrupt, "its values call what is no function");
  }
  /// Makes an object of a class; what it holds comes by call().
  Expected<> make() {
    PARETO_ASSIGN(const Taken arguments, pop(1));
    PARETO_ASSIGN(const Taken made, pop(1));
    const PickledValue object = values_[made.top];
    if (object.kind != Kind::kFunction) return no_function();
    return push({.text = object.text, .depth = arguments.deepest + 1, .kind = Kind::kFunction});
  }
  /// Calls a function, or fills an object: LibTorch does the same for both.
  Expected<> call() {
    PARETO_ASSIGN(const Taken given, pop(1));
    PARETO_ASSIGN(const Taken called, pop(1));
    const PickledValue function = values_[called.top];
    const PickledValue arguments = values_[given.top];
    // LibTorch would take any number for a function.
    if (function.kind != Kind::kFunction) return no_function();
    const PickledValue* const type = values_.element(arguments, 1);
    if (function.text == kTypeTag && type != nullptr) {
      PARETO_TRY(with_context(check_nesting(type->text), "a type"));
    }
    PickledValue result{.parts = given.parts + 1, .depth = given.deepest + 1};
    result.done = std::ranges::any_of(
        kListModules, [&](std::string_view module) { return function.text.starts_with(module); });
    const PickledValue* const list = values_.element(arguments, 0);
    if (result.done && list != nullptr && list->kind == Kind::kList) {
      result.kind = Kind::kList;
      result.number = list->number;
      result.first = list->first;
      result.count = list->count;
    }
    PARETO_TRY(check_packed_layer(values_, arguments, function.text, claimed_.settings));
    const bool quantised = function.text == kQuantisedTensor;
    if (quantised || std::ranges::find(kTensors, function.text) != kTensors.end()) {
      PARETO_ASSIGN(result.number, elements_of_tensor(values_, arguments, quantised));
      result.first = arguments.first;
      result.count = arguments.count;
      result.kind = Kind::kTensor;
    }
    return push(result);
  }
  Expected<> put(std::size_t place) {
    if (stack_.empty()) return nothing_there();
    // Places are counted up from 0, and each takes an instruction.
    if (place >= size_) return fail(ErrorCode::kCorrupt, "its values have no place {}", place);
    memo_[place] = stack_.back();
    return {};
  }
  Expected<> get(std::size_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) return nothing_there();
    values_[found->second].done = true;
    stack_.push_back(found->second);
    return {};
  }

  const std::size_t size_;
  std::string_view rest_;
  bool ended_ = false;
  bool truncated_ = false;  ///< an instruction lacks its bytes
  PickledValues values_;
  std::vector<Id> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::size_t, Id> memo_;
  PickleClaims claimed_;
};

}  // namespace

Expected<PickleClaims> check_values(std::string_view pickle) { return PickleScan(pickle).run(); }

}  // namespace pareto::runtime
