#include "partitioner/model/zoo/pickle.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <unordered_map>

namespace pareto::model::zoo {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxItems = 8'000'000;

tl::unexpected<Error> bad(std::string_view what) {
  return fail(ErrorCode::kCorrupt, "pickle: {}", what);
}

struct StorageType {
  std::string_view name;
  DType dtype;
};
constexpr std::array<StorageType, 13> kStorageTypes{
    {{"torch FloatStorage", DType::kFloat32},
     {"torch DoubleStorage", DType::kFloat64},
     {"torch HalfStorage", DType::kFloat16},
     {"torch BFloat16Storage", DType::kBFloat16},
     {"torch LongStorage", DType::kInt64},
     {"torch IntStorage", DType::kInt32},
     {"torch ShortStorage", DType::kInt16},
     {"torch CharStorage", DType::kInt8},
     {"torch ByteStorage", DType::kUInt8},
     {"torch BoolStorage", DType::kBool},
     {"torch ComplexFloatStorage", DType::kComplex64},
     {"torch ComplexDoubleStorage", DType::kComplex128},
     {"torch ComplexHalfStorage", DType::kComplex32}}};
constexpr std::array<std::string_view, 4> kOtherGlobals{
    "collections OrderedDict", "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_parameter",
    "torch.nn.parameter Parameter"};

template <typename T>
const T* as(const PickleRef& item) {
  return item ? std::get_if<T>(&item->value) : nullptr;
}

/// A stack machine over a whitelist of opcodes. It has a method for each kind of them: this is why
/// there are more than 20.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  Expected<PickleRef> run() {
    for (;;) {
      PARETO_ASSIGN(const auto opcode, number<std::uint8_t>());
      if (opcode == '.') break;
      PARETO_TRY(step(static_cast<unsigned char>(opcode)));
    }
    return pop();
  }
  std::string_view rest() const { return rest_; }

 private:
  Expected<std::string_view> take(std::uint64_t count) {
    if (count > rest_.size()) return bad("ends early");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  template <typename T>
  Expected<T> number() {
    PARETO_ASSIGN(const std::string_view bytes, take(sizeof(T)));
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  Expected<std::string> line() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos || end > 4096) return bad("a name without an end");
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }

  template <typename T>
  Expected<> push(T value, int depth = 0) {
    if (depth > kMaxDepth) return bad("nested deeper than 64");
    if (++made_ > kMaxItems) return bad("more than 8000000 items");
    auto item = std::make_shared<PickleItem>();
    item->value = std::move(value);
    item->depth = depth;
    stack_.push_back(std::move(item));
    return {};
  }
  Expected<PickleRef> pop() {
    if (stack_.empty()) return bad("takes from an empty stack");
    PickleRef item = std::move(stack_.back());
    stack_.pop_back();
    return item;
  }
  Expected<std::vector<PickleRef>> pop_to_mark() {
    for (std::size_t at = stack_.size(); at-- > 0;) {
      if (!as<PickleMark>(stack_[at])) continue;
      std::vector<PickleRef> items(stack_.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                   stack_.end());
      stack_.resize(at);
      return items;
    }
    return bad("no mark on the stack");
  }
  /// Returns the depth of a container of these, which from now on stay as deep as they are.
  static int depth_above(const std::vector<PickleRef>& items) {
    int depth = 0;
    for (const PickleRef& item : items) {
      depth = std::max(depth, item->depth);
      item->held = true;
    }
    return depth + 1;
  }

  Expected<> push_tuple(std::size_t count) {
    if (count > stack_.size()) return bad("takes from an empty stack");
    std::vector<PickleRef> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    const int depth = depth_above(items);
    return push(PickleSequence{std::move(items)}, depth);
  }
  Expected<> push_global(const std::string& module, const std::string& name) {
    const std::string full = module + " " + name;
    const bool known =
        std::find(kOtherGlobals.begin(), kOtherGlobals.end(), full) != kOtherGlobals.end() ||
        std::any_of(kStorageTypes.begin(), kStorageTypes.end(),
                    [&](const StorageType& type) { return type.name == full; });
    if (!known) {
      return bad(fmt::format(
          "names {}.{}, which no state_dict needs; if it is a whole pickled module, save its "
          "weights alone: torch.save(m.state_dict(), \"weights.pth\")",
          module, name));
    }
    return push(PickleGlobal{full});
  }
  Expected<> remember(std::uint32_t key) {
    if (stack_.empty()) return bad("remembers an empty stack");
    if (memo_.size() > kMaxItems) return bad("remembers too much");
    memo_[key] = stack_.back();
    return {};
  }
  Expected<> recall(std::uint32_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) return bad("recalls what was never remembered");
    if (++made_ > kMaxItems) return bad("more than 8000000 items");
    stack_.push_back(found->second);
    return {};
  }

  /// `items` added to the container below them. What contains itself has no depth and is refused
  /// with all else that grows past it.
  Expected<> add_items(const std::vector<PickleRef>& items) {
    if (stack_.empty()) return bad("adds to an empty stack");
    PickleItem& target = *stack_.back();
    if (target.held) return bad("adds to a container that another one holds");
    for (const PickleRef& item : items) {
      if (item.get() == &target) return bad("a container holds itself");
    }
    const int depth = std::max(target.depth, depth_above(items));
    if (depth > kMaxDepth) return bad("nested deeper than 64");
    target.depth = depth;
    if (auto* sequence = std::get_if<PickleSequence>(&target.value)) {
      sequence->items.insert(sequence->items.end(), items.begin(), items.end());
      return {};
    }
    auto* dict = std::get_if<PickleDict>(&target.value);
    if (dict == nullptr || items.size() % 2 != 0) return bad("adds items to what is no container");
    for (std::size_t i = 0; i < items.size(); i += 2)
      dict->items.emplace_back(items[i], items[i + 1]);
    return {};
  }

  Expected<> persistent() {
    PARETO_ASSIGN(const PickleRef id, pop());
    const auto* tuple = as<PickleSequence>(id);
    if (tuple == nullptr || tuple->items.size() < 5)
      return bad("a persistent id that is no storage");
    const auto* kind = as<std::string>(tuple->items[0]);
    const auto* type = as<PickleGlobal>(tuple->items[1]);
    const auto* key = as<std::string>(tuple->items[2]);
    const auto* elements = as<std::int64_t>(tuple->items[4]);
    if (kind == nullptr || *kind != "storage" || type == nullptr || key == nullptr ||
        elements == nullptr || *elements < 0) {
      return bad("a persistent id that is no storage");
    }
    for (const StorageType& known : kStorageTypes) {
      if (known.name == type->name) return push(PickleStorage{*key, known.dtype, *elements});
    }
    return bad("a storage of type " + type->name);
  }

  static bool integers(const PickleRef& item, std::vector<std::int64_t>& out) {
    const auto* sequence = as<PickleSequence>(item);
    if (sequence == nullptr || sequence->items.size() > 64) return false;
    for (const PickleRef& entry : sequence->items) {
      const auto* number = as<std::int64_t>(entry);
      if (number == nullptr) return false;
      out.push_back(*number);
    }
    return true;
  }

  /// Calls are of three functions only, and done here as data.
  Expected<> reduce() {
    PARETO_ASSIGN(const PickleRef arguments, pop());
    PARETO_ASSIGN(const PickleRef callee, pop());
    const auto* function = as<PickleGlobal>(callee);
    const auto* tuple = as<PickleSequence>(arguments);
    if (function == nullptr || tuple == nullptr) return bad("calls what is no function");
    if (function->name == "collections OrderedDict" && tuple->items.empty())
      return push(PickleDict{});
    if (function->name == "torch._utils _rebuild_parameter" && !tuple->items.empty() &&
        as<PickleTensor>(tuple->items[0])) {
      stack_.push_back(tuple->items[0]);
      return {};
    }
    if (function->name == "torch._utils _rebuild_tensor_v2" && tuple->items.size() >= 4) {
      PickleTensor tensor;
      const auto* storage = as<PickleStorage>(tuple->items[0]);
      const auto* offset = as<std::int64_t>(tuple->items[1]);
      if (storage != nullptr && offset != nullptr && integers(tuple->items[2], tensor.shape) &&
          integers(tuple->items[3], tensor.strides) &&
          tensor.shape.size() == tensor.strides.size()) {
        tensor.storage = *storage;
        tensor.offset = *offset;
        return push(std::move(tensor));
      }
    }
    return bad("calls " + function->name + " in a way no state_dict does");
  }

  Expected<> push_long(std::size_t size) {
    PARETO_ASSIGN(const std::string_view bytes, take(size));
    if (size > 8) return push(std::string(bytes));  // the magic number of the legacy form
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    if (size > 0 && size < 8 && (static_cast<unsigned char>(bytes[size - 1]) & 0x80) != 0) {
      value |= ~std::uint64_t{0} << (8 * size);
    }
    return push(std::bit_cast<std::int64_t>(value));
  }

  template <typename Length>
  Expected<> push_text() {
    PARETO_ASSIGN(const auto length, number<Length>());
    PARETO_ASSIGN(const std::string_view text, take(length));
    return push(std::string(text));
  }
  template <typename T>
  Expected<> push_number() {
    PARETO_ASSIGN(const auto value, number<T>());
    return push(static_cast<std::int64_t>(value));
  }

  Expected<> step(unsigned char opcode) {
    switch (opcode) {
      case 0x80:
        PARETO_TRY(take(1));
        return {};  // PROTO
      case 0x95:
        PARETO_TRY(take(8));
        return {};  // FRAME
      case '(':
        return push(PickleMark{});
      case 'N':
        return push(std::monostate{});
      case 0x88:
        return push(true);
      case 0x89:
        return push(false);
      case 'K':
        return push_number<std::uint8_t>();
      case 'M':
        return push_number<std::uint16_t>();
      case 'J':
        return push_number<std::int32_t>();
      case 0x8a: {  // LONG1
        PARETO_ASSIGN(const auto size, number<std::uint8_t>());
        return push_long(size);
      }
      case 'G': {  // BINFLOAT, big endian
        PARETO_ASSIGN(const auto bits, number<std::uint64_t>());
        return push(std::bit_cast<double>(__builtin_bswap64(bits)));
      }
      case 'X':
        return push_text<std::uint32_t>();
      case 'U':
      case 0x8c:
        return push_text<std::uint8_t>();
      case '}':
        return push(PickleDict{}, 1);
      case ')':
      case ']':
        return push(PickleSequence{}, 1);
      case 0x85:
        return push_tuple(1);
      case 0x86:
        return push_tuple(2);
      case 0x87:
        return push_tuple(3);
      case 't': {
        PARETO_ASSIGN(auto items, pop_to_mark());
        const int depth = depth_above(items);
        return push(PickleSequence{std::move(items)}, depth);
      }
      case 'e':
      case 'u': {  // APPENDS, SETITEMS
        PARETO_ASSIGN(const auto items, pop_to_mark());
        return add_items(items);
      }
      case 'a': {  // APPEND
        PARETO_ASSIGN(const PickleRef item, pop());
        return add_items({item});
      }
      case 's': {  // SETITEM
        PARETO_ASSIGN(const PickleRef value, pop());
        PARETO_ASSIGN(const PickleRef key, pop());
        return add_items({key, value});
      }
      case 'c': {  // GLOBAL
        PARETO_ASSIGN(const std::string module, line());
        PARETO_ASSIGN(const std::string name, line());
        return push_global(module, name);
      }
      case 0x93: {  // STACK_GLOBAL
        PARETO_ASSIGN(const PickleRef name, pop());
        PARETO_ASSIGN(const PickleRef module, pop());
        if (!as<std::string>(name) || !as<std::string>(module))
          return bad("a global without a name");
        return push_global(*as<std::string>(module), *as<std::string>(name));
      }
      case 'q': {
        PARETO_ASSIGN(const auto key, number<std::uint8_t>());
        return remember(key);
      }
      case 'r': {
        PARETO_ASSIGN(const auto key, number<std::uint32_t>());
        return remember(key);
      }
      case 0x94:
        return remember(static_cast<std::uint32_t>(memo_.size()));
      case 'h': {
        PARETO_ASSIGN(const auto key, number<std::uint8_t>());
        return recall(key);
      }
      case 'j': {
        PARETO_ASSIGN(const auto key, number<std::uint32_t>());
        return recall(key);
      }
      case 'Q':
        return persistent();
      case 'R':
        return reduce();
      case 'b':
        PARETO_TRY(pop());
        return {};  // BUILD: attributes such as _metadata
      default:
        return bad(fmt::format("opcode 0x{:02x}, which no state_dict needs", opcode));
    }
  }

  std::string_view rest_;
  std::vector<PickleRef> stack_;
  std::unordered_map<std::uint32_t, PickleRef> memo_;
  std::size_t made_ = 0;
};

}  // namespace

Expected<PickleRef> read_pickle(std::string_view& bytes) {
  Reader reader(bytes);
  PARETO_ASSIGN(PickleRef item, reader.run());
  bytes = reader.rest();
  return item;
}

Expected<std::string_view> storage_type_of(DType dtype) {
  const auto found = std::ranges::find(kStorageTypes, dtype, &StorageType::dtype);
  if (found != kStorageTypes.end()) return found->name;
  return fail(ErrorCode::kInvalidArgument, "PyTorch has no storage of {}",
              pareto::to_string(dtype));
}

}  // namespace pareto::model::zoo
