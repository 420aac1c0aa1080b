#include "partitioner/model/zoo/checkpoint.h"

#include <caffe2/serialize/inline_container.h>
#include <torch/script.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <unordered_set>

#include "core/base/file.h"
#include "core/base/text.h"
#include "partitioner/model/graph/flat.h"
#include "partitioner/model/readers/torchscript_reader.h"
#include "partitioner/model/zoo/pickle_writer.h"
#include "partitioner/model/zoo/state_dict.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/convert.h"

namespace pareto::model::zoo {
namespace {

Expected<Entries> read_module(const std::filesystem::path& path) {
  PARETO_ASSIGN(const torch::jit::Module module, load_torchscript(path));
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
  const auto [pickle, size] = reader.getRecord("data.pkl");
  std::string_view text(static_cast<const char*>(pickle.get()), size);
  PARETO_ASSIGN(const PickleRef root, read_pickle(text));
  std::map<std::string, StorageBytes> loaded;
  return entries_of(root, [&](const PickleStorage& storage) -> Expected<StorageBytes> {
    if (const auto known = loaded.find(storage.key); known != loaded.end()) return known->second;
    auto [data, bytes] = reader.getRecord("data/" + storage.key);
    auto owner = std::make_shared<at::DataPtr>(std::move(data));
    const StorageBytes result{static_cast<const std::byte*>(owner->get()), bytes, owner};
    loaded.emplace(storage.key, result);
    return result;
  });
}

/// Entries of a checkpoint that a model for inference may lack.
bool may_be_left_over(const std::string& name) {
  return name.ends_with("num_batches_tracked") || name.starts_with("aux1.") ||
         name.starts_with("aux2.") || name.starts_with("AuxLogits.") ||
         name.starts_with("aux_classifier.");
}

/// Returns whether two tensors are alike but for the first dimension: most often the last layer of
/// a model for other classes.
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

/// Renames what earlier versions of torchvision named otherwise: its published weights of vision
/// transformers still have such names.
void take_new_names(const Flat& flat, Entries& entries) {
  constexpr std::pair<std::string_view, std::string_view> kNewNames[] = {
      {".mlp.linear_1.", ".mlp.0."}, {".mlp.linear_2.", ".mlp.3."}};
  std::unordered_set<std::string> own;
  for (const FlatWeight& weight : flat.weights) own.insert(weight.name);
  for (auto& [name, tensor] : entries) {
    if (own.contains(name)) continue;
    for (const auto& [old_part, new_part] : kNewNames) {
      const std::size_t at = name.find(old_part);
      if (at == std::string::npos) continue;
      std::string renamed = name;
      renamed.replace(at, old_part.size(), new_part);
      if (own.contains(renamed)) name = std::move(renamed);
    }
  }
}

}  // namespace

Expected<Entries> read_checkpoint(const std::filesystem::path& path) {
  PARETO_ASSIGN(const FileEnds ends, read_ends(path));
  const auto read = [&]() -> Expected<Entries> {
    if (torchscript_reader()->recognises(ends)) return read_module(path);
    return ends.is_zip() ? read_zip(path) : read_legacy_checkpoint(path);
  };
  try {
    return with_context(read(), "{}", path.string());
  } catch (const std::exception& error) {
    return fail(ErrorCode::kCorrupt, "{}: no checkpoint that can be read: {}", path.string(),
                runtime::first_line(error));
  }
}

Expected<> write_checkpoint(const std::filesystem::path& path, const Entries& entries) {
  PARETO_ASSIGN(const PickledState state, with_context(pickle_state(entries), "{}", path.string()));
  std::string bytes;
  try {
    caffe2::serialize::PyTorchStreamWriter writer([&](const void* data, std::size_t size) {
      bytes.append(static_cast<const char*>(data), size);
      return size;
    });
    writer.writeRecord("data.pkl", state.pickle.data(), state.pickle.size());
    for (std::size_t i = 0; i < state.storages.size(); ++i) {
      const auto storage = state.storages[i].bytes();
      writer.writeRecord(fmt::format("data/{}", i), storage.data(), storage.size());
    }
    writer.writeEndOfFile();
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, "{}: {}", path.string(), runtime::first_line(error));
  }
  return write_file_atomically(path, bytes);
}

Expected<> load_weights(Flat& flat, const std::filesystem::path& path) {
  PARETO_ASSIGN(Entries entries, read_checkpoint(path));
  take_off_prefixes(flat, entries);
  take_new_names(flat, entries);
  return with_context(assign(flat, entries), "{}", path.string());
}

}  // namespace pareto::model::zoo
