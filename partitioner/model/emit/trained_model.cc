#include "partitioner/model/emit/trained_model.h"

#include <torch/script.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <unordered_map>

#include "core/base/file.h"
#include "core/base/text.h"
#include "partitioner/model/emit/module_tree.h"
#include "partitioner/model/graph/flat.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/convert.h"

namespace pareto::model {
namespace {

namespace jit = torch::jit;

constexpr std::string_view kOptimiserPrefix = "optimiser/";
constexpr std::string_view kStatistic = "running_mean";
constexpr std::string_view kCounter = "num_batches_tracked";

/// Returns "bn1.num_batches_tracked" of "bn1.running_mean"; "" of other names.
std::string counter_of(const std::string& name) {
  if (!name.ends_with(kStatistic)) return "";
  const std::size_t end = name.size() - kStatistic.size();
  if (end > 0 && name[end - 1] != '.') return "";
  return name.substr(0, end) + std::string(kCounter);
}

struct StateEntry {
  std::string name;
  at::Tensor tensor;
};

/// Returns the model's tensors under all their names, before it was trained.
std::vector<StateEntry> entries_of_model(const Flat& flat) {
  std::vector<StateEntry> entries;
  if (flat.original) {
    for (const auto& parameter : flat.original->named_parameters()) {
      entries.push_back({parameter.name, parameter.value});
    }
    for (const auto& buffer : flat.original->named_buffers()) {
      entries.push_back({buffer.name, buffer.value});
    }
    return entries;
  }
  for (const FlatWeight& weight : flat.weights) {
    if (!weight.in_state_dict) continue;
    entries.push_back({weight.name, weight.tensor});
  }
  return entries;
}

/// A model's state that takes the tensors of a training.
class StateUpdate {
 public:
  StateUpdate(const Model& model, std::int64_t micro_batches)
      : model_(model), entries_(entries_of_model(model.flat())), micro_batches_(micro_batches) {
    for (const StateEntry& entry : entries_) names_.push_back(entry.name);
  }

  Expected<> take(const plan::StateTensor& one) {
    const auto found = std::ranges::find(entries_, one.name, &StateEntry::name);
    if (found == entries_.end() && is_constant_of_code(one.name)) return {};
    if (found == entries_.end()) {
      return fail(ErrorCode::kInvalidArgument, "{} has no \"{}\"{}", model_.name(), one.name,
                  did_you_mean(one.name, names_));
    }
    const bool fits = one.tensor.shape() == found->tensor.sizes().vec() &&
                      runtime::to_scalar_type(one.tensor.dtype()) == found->tensor.scalar_type();
    if (!fits) {
      return fail(ErrorCode::kInvalidArgument, "\"{}\" is {} {}, and {} has {} {}", one.name,
                  pareto::to_string(one.tensor.dtype()), pareto::to_string(one.tensor.shape()),
                  model_.name(), c10::toString(found->tensor.scalar_type()),
                  pareto::to_string(found->tensor.sizes().vec()));
    }
    PARETO_ASSIGN(const Tensor before, runtime::from_torch(found->tensor.detach()));
    if (const std::string counter = counter_of(one.name);
        !counter.empty() && !bit_equal(before, one.tensor)) {
      counted_.push_back(counter);
    }
    // All names of a tied weight are one tensor.
    updates_.insert_or_assign(found->tensor.unsafeGetTensorImpl(), one.tensor);
    return {};
  }

  Expected<NamedTensors> finish() {
    NamedTensors state;
    for (const StateEntry& entry : entries_) {
      const auto update = updates_.find(entry.tensor.unsafeGetTensorImpl());
      if (update != updates_.end()) {
        state.emplace_back(entry.name, update->second);
      } else if (is_counted(entry.name)) {
        PARETO_ASSIGN(Tensor counter, runtime::from_torch(entry.tensor + micro_batches_));
        state.emplace_back(entry.name, std::move(counter));
      } else {
        PARETO_ASSIGN(Tensor tensor,
                      with_context(runtime::from_torch(entry.tensor.detach()), "{}", entry.name));
        state.emplace_back(entry.name, std::move(tensor));
      }
    }
    if (!model_.flat().original) PARETO_TRY(add_counters(state));
    return state;
  }

 private:
  /// Returns whether it is the name of a tensor that no state_dict has.
  bool is_constant_of_code(const std::string& name) const {
    return std::ranges::any_of(model_.flat().weights, [&](const FlatWeight& weight) {
      return weight.name == name && !weight.in_state_dict;
    });
  }

  bool is_counted(const std::string& name) const {
    return std::ranges::find(counted_, name) != counted_.end();
  }

  /// Adds the counters that graphs do without, each behind the statistics of its norm.
  Expected<> add_counters(NamedTensors& state) const {
    NamedTensors all;
    std::string waiting;
    for (auto& entry : state) {
      const std::string counter = counter_of(entry.first);
      if (!counter.empty() && std::ranges::find(names_, counter) == names_.end()) waiting = counter;
      all.push_back(std::move(entry));
      if (waiting.empty() || !all.back().first.ends_with("running_var")) continue;
      PARETO_ASSIGN(Tensor number, runtime::from_torch(at::scalar_tensor(
                                       is_counted(waiting) ? micro_batches_ : 0, at::kLong)));
      all.emplace_back(std::exchange(waiting, ""), std::move(number));
    }
    state = std::move(all);
    return {};
  }

  const Model& model_;
  const std::vector<StateEntry> entries_;
  const std::int64_t micro_batches_;
  std::vector<std::string> names_;
  std::vector<std::string> counted_;  ///< counters of norms whose statistics have changed
  std::unordered_map<const c10::TensorImpl*, Tensor> updates_;
};

/// Returns a file's module with other tensors.
jit::Module with_state(const jit::Module& original, const NamedTensors& state) {
  std::map<std::string, const Tensor*> by_name;
  for (const auto& [name, tensor] : state) by_name[name] = &tensor;
  const torch::NoGradGuard no_gradients;
  jit::Module module = original.deepcopy();
  const auto put = [&](const auto& named) {
    for (const auto& entry : named) {
      const auto found = by_name.find(entry.name);
      if (found != by_name.end()) entry.value.copy_(runtime::to_torch(*found->second));
    }
  };
  put(module.named_parameters());
  put(module.named_buffers());
  // A deep copy asks for no gradient.
  std::map<std::string, bool> trains;
  for (const auto& entry : original.named_parameters()) {
    trains[entry.name] = entry.value.requires_grad();
  }
  for (const auto& entry : module.named_parameters()) {
    entry.value.set_requires_grad(trains[entry.name]);
  }
  module.eval();
  return module;
}

}  // namespace

Expected<NamedTensors> trained_state(const Model& model,
                                     const std::vector<plan::StateTensor>& state,
                                     std::int64_t micro_batches) {
  try {
    StateUpdate update(model, micro_batches);
    for (const plan::StateTensor& one : state) {
      if (!one.name.starts_with(kOptimiserPrefix)) PARETO_TRY(update.take(one));
    }
    return update.finish();
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, "{}", runtime::first_line(error));
  }
}

Expected<> write_torchscript(const std::filesystem::path& path, const Model& model,
                             const NamedTensors& state) {
  std::string bytes;
  try {
    const Flat& flat = model.flat();
    std::ostringstream stream;
    (flat.original ? with_state(*flat.original, state) : module_of(flat, state)).save(stream);
    bytes = std::move(stream).str();
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInternal, "{}: {}", path.string(), runtime::first_line(error));
  }
  return write_file_atomically(path, bytes);
}

}  // namespace pareto::model
