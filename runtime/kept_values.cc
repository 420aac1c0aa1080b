#include "runtime/kept_values.h"

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <vector>

#include "runtime/archive/code_calls.h"
#include "runtime/torch/compat.h"
#include "runtime/torch/reached_writes.h"
#include "runtime/torch/written_weights.h"

namespace pareto::runtime {
namespace {

bool holds_any_type(const c10::TypePtr& type) {
  const auto contained = type->containedTypes();
  return std::any_of(contained.begin(), contained.end(), [](const c10::TypePtr& inner) {
    return inner->kind() == c10::TypeKind::AnyType || holds_any_type(inner);
  });
}

Expected<> check_attribute(const std::string& name, const c10::IValue& value) {
  // The one attribute of an object of a library is what only the library sees.
  if (value.isCapsule()) return {};
  const bool plain = value.isTensor() || value.isScalar() || value.isBool() || value.isNone() ||
                     value.isString() || value.isDevice() || value.isObject();
  if (!plain) {
    return fail(ErrorCode::kPermission, "no shard may have the attribute {} of the type {}", name,
                value.type()->str());
  }
  return with_context(check_value_type(value.type()), "the attribute {}", name);
}

/// The objects of a module and of constants, each checked once.
class KeptObjects {
 public:
  Expected<> check(const c10::IValue& object) {
    add(object);
    while (!waiting_.empty()) {
      const auto next = waiting_.back();
      waiting_.pop_back();
      const auto type = next->type();
      const std::vector<c10::IValue>& slots = next->slots();
      for (std::size_t i = 0; i < std::min(slots.size(), type->numAttributes()); ++i) {
        PARETO_TRY(check_attribute(type->getAttributeName(i), slots[i]));
        if (slots[i].isObject()) add(slots[i]);
      }
    }
    return {};
  }

 private:
  void add(const c10::IValue& value) {
    auto object = value.toObject();
    if (seen_.insert(object.get()).second) waiting_.push_back(std::move(object));
  }

  std::unordered_set<const c10::ivalue::Object*> seen_;
  std::vector<c10::intrusive_ptr<c10::ivalue::Object>> waiting_;
};

tl::unexpected<Error> changed(const torch::jit::Value& constant) {
  return fail(ErrorCode::kPermission, "no shard may change a constant of the type {}",
              constant.type()->str());
}

bool can_grow(const c10::IValue& value) { return value.isList() || value.isGenericDict(); }

/// Returns what a tuple, a list or a dictionary holds; of others nothing.
std::vector<c10::IValue> parts_of(const c10::IValue& value) {
  std::vector<c10::IValue> parts;
  if (value.isTuple()) parts = value.toTupleRef().elements().vec();
  if (value.isList()) parts = value.toListRef().vec();
  if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      parts.push_back(entry.key());
      parts.push_back(entry.value());
    }
  }
  return parts;
}

/// The constants of an archive's graphs.
class KeptConstants {
 public:
  explicit KeptConstants(KeptObjects& objects) : objects_(objects) {}

  /// Checks the constants of a graph. `written`: whether any graph of the archive writes.
  Expected<> check(const std::shared_ptr<torch::jit::Graph>& graph, bool written) {
    growing_.clear();
    Expected<> checked;
    for_each_node(graph->block(), [&](torch::jit::Node* node) {
      if (!checked || node->kind() != c10::prim::Constant) return;
      const auto value = torch::jit::toIValue(node->output());
      if (value) checked = check_constant(*value, node->output(), written);
    });
    PARETO_TRY(checked);
    if (growing_.empty() || !written) return {};
    const torch::jit::AliasDb aliases(graph);
    for (const torch::jit::Value* constant : growing_) {
      if (aliases.hasWriters(constant)) return changed(*constant);
    }
    return {};
  }

 private:
  Expected<> check_constant(const c10::IValue& value, const torch::jit::Value* constant,
                            bool written) {
    if (value.isObject()) return objects_.check(value);
    for (const c10::IValue& part : parts_of(value)) {
      PARETO_TRY(check_constant(part, constant, written));
      // Nobody can tell whether a graph changes what it takes out of a container.
      if (written && can_grow(part)) return changed(*constant);
    }
    if (can_grow(value)) growing_.push_back(constant);
    return {};
  }

  KeptObjects& objects_;
  std::vector<const torch::jit::Value*> growing_;  ///< lists and dictionaries
};

}  // namespace

Expected<> check_value_type(const c10::TypePtr& type) {
  if (const auto object = type->cast<c10::ClassType>()) {
    return object->name() ? check_class(object->name()->qualifiedName()) : Expected<>{};
  }
  // A module's attributes are checked by themselves.
  if (!holds_any_type(type)) return {};
  return fail(ErrorCode::kPermission, "no shard may have a value of the type {}", type->str());
}

Expected<> check_written_constants(torch::jit::Graph& graph) {
  const auto constants = tensor_constants(graph);
  if (may_write_to(graph, {constants.begin(), constants.end()})) return changed(*constants[0]);
  return {};
}

Expected<> check_kept_values(const torch::jit::Module& module) {
  KeptObjects objects;
  PARETO_TRY(objects.check(module._ivalue()));
  std::vector<std::shared_ptr<torch::jit::Graph>> graphs;
  for (torch::jit::Function* function : module._ivalue()->compilation_unit()->get_functions()) {
    if (auto* const code = torch::jit::tryToGraphFunction(*function)) {
      graphs.push_back(code->graph());
    }
  }
  const bool written = std::ranges::any_of(
      graphs, [](const auto& graph) { return writes_anything(graph->block()); });
  KeptConstants constants(objects);
  const auto run = module.find_method("run");
  for (const auto& graph : graphs) {
    PARETO_TRY(constants.check(graph, written));
    // What "run" itself writes to is copied when it is loaded.
    if (run && graph != run->graph()) PARETO_TRY(check_written_constants(*graph));
  }
  return {};
}

}  // namespace pareto::runtime
