#include "partitioner/model/zoo/checkpoint.h"

#include <caffe2/serialize/inline_container.h>
#include <torch/script.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <unordered_set>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/runtime/archive/archive_check.h"
#include "core/runtime/torch/compat.h"
#include "core/runtime/torch/convert.h"
#include "core/runtime/torch/tensor_bounds.h"
#include "partitioner/model/graph/flat.h"
#include "partitioner/model/zoo/pickle.h"

namespace pareto::model {
namespace {

using Entries = std::vector<std::pair<std::string, Tensor>>;

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{16} << 30;

struct Bytes {
  const std::byte* data = nullptr;
  std::uint64_t size = 0;
  std::shared_ptr<const void> owner;
};
/// The bytes of a storage, by its key.
using Storages = std::function<Expected<Bytes>(const PickleStorage&)>;

bool is_row_major(const PickleTensor& view) {
  std::int64_t expected = 1;
  for (std::size_t i = view.shape.size(); i-- > 0;) {
    if (view.shape[i] != 1 && view.strides[i] != expected) return false;
    expected *= std::max<std::int64_t>(view.shape[i], 1);
  }
  return true;
}

/// One past the last element that the view reads; fails where it would leave its storage.
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

/// Copies a view of any strides into row-major order.
Expected<Tensor> gathered(const PickleTensor& view, const Bytes& bytes) {
  PARETO_ASSIGN(Tensor tensor, Tensor::allocate(view.storage.dtype, view.shape));
  const std::size_t size = size_of(view.storage.dtype);
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

Expected<Tensor> materialize(const PickleTensor& view, const Storages& storages) {
  PARETO_TRY(check_inside(view));
  PARETO_ASSIGN(const Bytes bytes, storages(view.storage));
  const std::size_t size = size_of(view.storage.dtype);
  if (bytes.size / size < static_cast<std::uint64_t>(view.storage.elements)) {
    return fail(ErrorCode::kCorrupt, "storage {} has {} bytes, not {} elements of {}",
                view.storage.key, bytes.size, view.storage.elements,
                pareto::to_string(view.storage.dtype));
  }
  if (!is_row_major(view)) return gathered(view, bytes);
  return Tensor::borrow(view.storage.dtype, view.shape,
                        bytes.data + static_cast<std::size_t>(view.offset) * size, bytes.owner);
}

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
  for (const auto& [key, value] : dict.items) {
    const auto* name = std::get_if<std::string>(&key->value);
    const auto* view = std::get_if<PickleTensor>(&value->value);
    if (name == nullptr || view == nullptr) continue;
    PARETO_ASSIGN(Tensor tensor, with_context(materialize(*view, storages), "{}", *name));
    entries.emplace_back(*name, std::move(tensor));
  }
  if (!entries.empty()) return entries;
  return fail(ErrorCode::kCorrupt, "holds no tensors");
}

Expected<Entries> entries_of(const PickleRef& root, const Storages& storages) {
  const auto* dict = std::get_if<PickleDict>(&root->value);
  if (dict == nullptr) return fail(ErrorCode::kCorrupt, "is no state_dict");
  return tensors_of_dict(state_dict_in(*dict), storages);
}

Expected<Entries> read_module(const std::filesystem::path& path) {
  std::ifstream archive(path, std::ios::binary);
  PARETO_TRY(runtime::check_archive(archive));
  const torch::jit::Module module = torch::jit::load(path.string(), c10::Device(c10::kCPU));
  PARETO_TRY(runtime::check_tensor_bounds(module));
  Entries entries;
  const auto add = [&](const auto& named) -> Expected<> {
    for (const auto& entry : named) {
      PARETO_ASSIGN(Tensor tensor,
                    with_context(runtime::from_torch(entry.value.detach()), "{}", entry.name));
      entries.emplace_back(entry.name, std::move(tensor));
    }
    return {};
  };
  PARETO_TRY(add(module.named_parameters()));
  PARETO_TRY(add(module.named_buffers()));
  return entries;
}

/// Reads the form torch.save has written since 1.6: a zip archive of a pickle and one record a
/// storage.
Expected<Entries> read_zip(const std::filesystem::path& path) {
  caffe2::serialize::PyTorchStreamReader reader(path.string());
  if (reader.hasRecord("constants.pkl")) return read_module(path);
  const auto [pickle, size] = reader.getRecord("data.pkl");
  std::string_view text(static_cast<const char*>(pickle.get()), size);
  PARETO_ASSIGN(const PickleRef root, read_pickle(text));
  std::map<std::string, Bytes> loaded;
  return entries_of(root, [&](const PickleStorage& storage) -> Expected<Bytes> {
    if (const auto known = loaded.find(storage.key); known != loaded.end()) return known->second;
    auto [data, bytes] = reader.getRecord("data/" + storage.key);
    auto owner = std::make_shared<at::DataPtr>(std::move(data));
    const Bytes result{static_cast<const std::byte*>(owner->get()), bytes, owner};
    loaded.emplace(storage.key, result);
    return result;
  });
}

/// Reads the older form: pickles one after another, then the storages.
Expected<Entries> read_legacy(const std::filesystem::path& path) {
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
  std::map<std::string, Bytes> storages;
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
  return entries_of(root, [&](const PickleStorage& storage) -> Expected<Bytes> {
    const auto found = storages.find(storage.key);
    if (found == storages.end()) return fail(ErrorCode::kCorrupt, "has no storage {}", storage.key);
    return found->second;
  });
}

/// Entries of a checkpoint that a model for inference may lack.
bool may_be_left_over(const std::string& name) {
  return name.ends_with("num_batches_tracked") || name.starts_with("aux1.") ||
         name.starts_with("aux2.") || name.starts_with("AuxLogits.");
}

/// Whether two tensors are alike but for the first dimension: most often the last layer of a model
/// for other classes.
bool differs_in_classes(const FlatWeight& weight, const Tensor& tensor) {
  const auto sizes = weight.tensor.sizes();
  return !sizes.empty() && sizes.size() == tensor.shape().size() &&
         std::equal(sizes.begin() + 1, sizes.end(), tensor.shape().begin() + 1);
}

/// Returns the tensors of a file's own state by name: several names may be one tensor, and not all
/// need be read.
std::map<std::string, const c10::TensorImpl*> state_of(const Flat& flat) {
  std::map<std::string, const c10::TensorImpl*> state;
  if (!flat.original) return state;
  for (const auto& entry : flat.original->named_parameters()) {
    state[entry.name] = entry.value.unsafeGetTensorImpl();
  }
  for (const auto& entry : flat.original->named_buffers()) {
    state[entry.name] = entry.value.unsafeGetTensorImpl();
  }
  return state;
}

/// An entry that is no weight of its own may be another name of one.
Expected<> check_left_over(const Flat& flat,
                           const std::map<std::string, const c10::TensorImpl*>& state,
                           const std::string& name,
                           const std::map<std::string, const Tensor*>& by_name) {
  if (may_be_left_over(name)) return {};
  const auto own = state.find(name);
  if (own == state.end()) {
    return fail(ErrorCode::kInvalidArgument, "has \"{}\", which {} has no place for", name,
                flat.model);
  }
  for (const FlatWeight& weight : flat.weights) {
    const auto other = state.find(weight.name);
    if (other == state.end() || other->second != own->second) continue;
    const Tensor& one = *by_name.at(weight.name);
    const Tensor& two = *by_name.at(name);
    if (one.dtype() == two.dtype() && std::ranges::equal(one.bytes(), two.bytes())) continue;
    return fail(ErrorCode::kInvalidArgument, "\"{}\" and \"{}\" differ, and are one weight in {}",
                weight.name, name, flat.model);
  }
  return {};
}

Expected<> assign(Flat& flat, const Entries& entries) {
  std::map<std::string, const Tensor*> by_name;
  std::vector<std::string> names;
  for (const auto& [name, tensor] : entries) {
    by_name[name] = &tensor;
    names.push_back(name);
  }
  std::unordered_set<std::string> assigned;
  for (FlatWeight& weight : flat.weights) {
    if (!weight.in_state_dict) continue;
    const auto found = by_name.find(weight.name);
    if (found == by_name.end()) {
      return fail(ErrorCode::kInvalidArgument, "has no \"{}\"{}, which {} needs", weight.name,
                  did_you_mean(weight.name, names), flat.model);
    }
    const Tensor& tensor = *found->second;
    if (tensor.shape() != weight.tensor.sizes().vec()) {
      return fail(ErrorCode::kInvalidArgument, "\"{}\" has shape {}, {} needs {}{}", weight.name,
                  pareto::to_string(tensor.shape()), flat.model,
                  pareto::to_string(weight.tensor.sizes().vec()),
                  differs_in_classes(weight, tensor) ? " (another --num-classes?)" : "");
    }
    weight.tensor = runtime::to_torch(tensor).to(weight.tensor.scalar_type());
    assigned.insert(weight.name);
  }
  const auto state = state_of(flat);
  for (const auto& [name, tensor] : by_name) {
    if (!assigned.contains(name)) PARETO_TRY(check_left_over(flat, state, name, by_name));
  }
  return {};
}

/// Takes off what wrappers of training put before every name: DataParallel, torch.compile.
void take_off_prefixes(const Flat& flat, Entries& entries) {
  for (const std::string_view prefix : {"module.", "_orig_mod."}) {
    const bool has = !entries.empty() && std::ranges::all_of(entries, [&](const auto& entry) {
      return entry.first.starts_with(prefix);
    });
    const bool is_own = std::ranges::any_of(
        flat.weights, [&](const FlatWeight& weight) { return weight.name.starts_with(prefix); });
    if (!has || is_own) continue;
    for (auto& entry : entries) entry.first.erase(0, prefix.size());
  }
}

}  // namespace

Expected<Entries> read_checkpoint(const std::filesystem::path& path) {
  PARETO_ASSIGN(const std::string start, [&]() -> Expected<std::string> {
    std::error_code status;
    if (!std::filesystem::is_regular_file(path, status)) {
      return fail(ErrorCode::kNotFound, "{}: no such file", path.string());
    }
    std::ifstream file(path, std::ios::binary);
    std::string bytes(2, '\0');
    file.read(bytes.data(), 2);
    return bytes;
  }());
  try {
    return with_context(start == "PK" ? read_zip(path) : read_legacy(path), "{}", path.string());
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt, "{}: no checkpoint that can be read: {}", path.string(),
                runtime::first_line(error));
  }
}

Expected<> load_weights(Flat& flat, const std::filesystem::path& path) {
  PARETO_ASSIGN(Entries entries, read_checkpoint(path));
  take_off_prefixes(flat, entries);
  return with_context(assign(flat, entries), "{}", path.string());
}

}  // namespace pareto::model
