#include "partitioner/model/zoo/state_dict.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>

#include "core/base/file.h"

namespace pareto::model::zoo {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{16} << 30;

bool is_row_major(const PickleTensor& view) {
  std::int64_t expected = 1;
  for (std::size_t i = view.shape.size(); i-- > 0;) {
    if (view.shape[i] != 1 && view.strides[i] != expected) return false;
    expected *= std::max<std::int64_t>(view.shape[i], 1);
  }
  return true;
}

/// Fails if the view reads elements that its storage does not have.
Expected<> check_inside(const PickleTensor& view) {
  PARETO_ASSIGN(const std::int64_t elements, element_count(view.shape));
  std::int64_t last = view.offset;
  bool overflow = view.offset < 0;
  for (std::size_t i = 0; i < view.shape.size() && elements > 0; ++i) {
    std::int64_t reach = 0;
    overflow = overflow || view.strides[i] < 0 ||
               __builtin_mul_overflow(view.shape[i] - 1, view.strides[i], &reach) ||
               __builtin_add_overflow(last, reach, &last);
  }
  if (overflow || (elements > 0 && last >= view.storage.elements)) {
    return fail(ErrorCode::kCorrupt, "shape {} does not fit its storage of {} elements",
                pareto::to_string(view.shape), view.storage.elements);
  }
  return {};
}

/// The tensors that views are of. Threads: one owner.
class Views {
 public:
  explicit Views(const Storages& storages) : storages_(storages) {}

  Expected<Tensor> tensor_of(const PickleTensor& view) {
    PARETO_TRY(check_inside(view));
    PARETO_ASSIGN(const StorageBytes bytes, storages_(view.storage));
    if (known_.insert(view.storage.key).second) may_copy_ += kCopies * bytes.size;
    const std::size_t size = size_of(view.storage.dtype);
    if (bytes.size / size < static_cast<std::uint64_t>(view.storage.elements)) {
      return fail(ErrorCode::kCorrupt, "storage {} has {} bytes, not {} elements of {}",
                  view.storage.key, bytes.size, view.storage.elements,
                  pareto::to_string(view.storage.dtype));
    }
    PARETO_ASSIGN(const std::int64_t elements, element_count(view.shape));
    // Its offset and strides mean nothing.
    if (elements == 0) return Tensor::allocate(view.storage.dtype, view.shape);
    if (!is_row_major(view)) return gathered(view, static_cast<std::uint64_t>(elements), bytes);
    return Tensor::borrow(view.storage.dtype, view.shape,
                          bytes.data + static_cast<std::size_t>(view.offset) * size, bytes.owner);
  }

 private:
  /// A view may repeat elements, and views may share them: a few bytes of pickle could ask for all
  /// the memory that there is.
  static constexpr std::uint64_t kCopies = 8;
  static constexpr std::uint64_t kAlways = std::uint64_t{64} << 20;

  /// Copies a view of any strides into row-major order.
  Expected<Tensor> gathered(const PickleTensor& view, std::uint64_t elements,
                            const StorageBytes& bytes) {
    const std::size_t size = size_of(view.storage.dtype);
    if (elements > may_copy_ / size) {
      return fail(ErrorCode::kCorrupt,
                  "shape {} repeats elements of its storage: save contiguous tensors",
                  pareto::to_string(view.shape));
    }
    may_copy_ -= elements * size;
    PARETO_ASSIGN(Tensor tensor, Tensor::allocate(view.storage.dtype, view.shape));
    std::vector<std::int64_t> index(view.shape.size(), 0);
    for (std::size_t at = 0; at < tensor.size_bytes(); at += size) {
      std::int64_t element = view.offset;
      for (std::size_t i = 0; i < index.size(); ++i) element += index[i] * view.strides[i];
      std::memcpy(tensor.mutable_bytes().data() + at,
                  bytes.data + static_cast<std::size_t>(element) * size, size);
      for (std::size_t i = index.size(); i-- > 0;) {
        if (++index[i] < view.shape[i]) break;
        index[i] = 0;
      }
    }
    return tensor;
  }

  const Storages& storages_;
  std::set<std::string> known_;
  std::uint64_t may_copy_ = kAlways;
};

/// Training scripts wrap the state_dict: {"model": …, "epoch": …, "best": tensor}.
const PickleDict& state_dict_in(const PickleDict& dict) {
  for (const auto& [key, value] : dict.items) {
    const auto* name = std::get_if<std::string>(&key->value);
    const auto* inner = std::get_if<PickleDict>(&value->value);
    if (name != nullptr && inner != nullptr && (*name == "state_dict" || *name == "model")) {
      return *inner;
    }
  }
  return dict;
}

Expected<Entries> tensors_of_dict(const PickleDict& dict, const Storages& storages) {
  Entries entries;
  Views views(storages);
  for (const auto& [key, value] : dict.items) {
    const auto* name = std::get_if<std::string>(&key->value);
    const auto* view = std::get_if<PickleTensor>(&value->value);
    if (name == nullptr || view == nullptr) continue;
    PARETO_ASSIGN(Tensor tensor, with_context(views.tensor_of(*view), "{}", *name));
    entries.emplace_back(*name, std::move(tensor));
  }
  if (!entries.empty()) return entries;
  return fail(ErrorCode::kCorrupt, "holds no tensors");
}

}  // namespace

Expected<Entries> entries_of(const PickleRef& root, const Storages& storages) {
  const auto* dict = std::get_if<PickleDict>(&root->value);
  if (dict == nullptr) return fail(ErrorCode::kCorrupt, "is no state_dict");
  return tensors_of_dict(state_dict_in(*dict), storages);
}

Expected<Entries> read_legacy_checkpoint(const std::filesystem::path& path) {
  PARETO_ASSIGN(std::string content, read_file(path, kMaxFileBytes));
  const auto file = std::make_shared<const std::string>(std::move(content));
  std::string_view rest = *file;
  constexpr std::string_view kMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);
  PARETO_ASSIGN(const PickleRef magic, read_pickle(rest));
  const auto* number = std::get_if<std::string>(&magic->value);
  if (number == nullptr || *number != kMagic)
    return fail(ErrorCode::kCorrupt, "is no checkpoint of torch.save");
  for (int header = 0; header < 2; ++header) PARETO_TRY(read_pickle(rest));  // protocol, system
  PARETO_ASSIGN(const PickleRef root, read_pickle(rest));
  PARETO_ASSIGN(const PickleRef keys, read_pickle(rest));
  const auto* names = std::get_if<PickleSequence>(&keys->value);
  if (names == nullptr) return fail(ErrorCode::kCorrupt, "has no list of storages");
  // Storages lie in the order of their keys, each behind its number of elements; only its users
  // know how large an element is.
  std::map<std::string, std::size_t> sizes;
  // Of all that it holds: what a training script keeps next to the state_dict lies among them.
  std::vector<PickleRef> next{root};
  std::unordered_set<const PickleItem*> seen;
  while (!next.empty()) {
    const PickleRef item = std::move(next.back());
    next.pop_back();
    if (!seen.insert(item.get()).second) continue;
    if (const auto* view = std::get_if<PickleTensor>(&item->value)) {
      sizes[view->storage.key] = size_of(view->storage.dtype);
    } else if (const auto* sequence = std::get_if<PickleSequence>(&item->value)) {
      next.insert(next.end(), sequence->items.begin(), sequence->items.end());
    } else if (const auto* dict = std::get_if<PickleDict>(&item->value)) {
      for (const auto& [key, value] : dict->items) next.push_back(value);
    }
  }
  std::map<std::string, StorageBytes> storages;
  for (const PickleRef& item : names->items) {
    const auto* key = std::get_if<std::string>(&item->value);
    std::uint64_t elements = 0;
    if (key == nullptr || !sizes.contains(*key) || rest.size() < sizeof elements) {
      return fail(ErrorCode::kCorrupt, "its list of storages does not fit its tensors");
    }
    std::memcpy(&elements, rest.data(), sizeof elements);
    rest.remove_prefix(sizeof elements);
    if (elements > rest.size() / sizes[*key])
      return fail(ErrorCode::kCorrupt, "ends within storage {}", *key);
    const std::uint64_t bytes = elements * sizes[*key];
    storages[*key] = {reinterpret_cast<const std::byte*>(rest.data()), bytes, file};
    rest.remove_prefix(bytes);
  }
  return entries_of(root, [&](const PickleStorage& storage) -> Expected<StorageBytes> {
    const auto found = storages.find(storage.key);
    if (found == storages.end()) return fail(ErrorCode::kCorrupt, "has no storage {}", storage.key);
    return found->second;
  });
}

}  // namespace pareto::model::zoo
