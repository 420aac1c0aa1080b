#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/dead_code_elimination.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/flatten.h"
#include "runtime/torch/map_tensors.h"

namespace pareto::model {
namespace {

using torch::jit::Node;
namespace jit = torch::jit;

/// Below this a constant stays in the code.
constexpr std::size_t kLargeConstantBytes = 256;

struct Attribute {
  c10::IValue value;
  std::string path;
  bool is_parameter = false;
  bool in_state_dict = true;
};

tl::unexpected<Error> keeps_state(const std::string& attribute) {
  return fail(ErrorCode::kInvalidArgument,
              "the model sets its attribute {} while it runs; a stage keeps no state between "
              "requests, so such a model cannot be cut",
              attribute);
}

bool is_structured(const c10::IValue& value) {
  return value.isList() || value.isTuple() || value.isGenericDict();
}

/// Returns whether something inside may be changed: a list of lists.
bool holds_containers(const c10::TypePtr& type) {
  return std::ranges::any_of(type->containedTypes(), [](const c10::TypePtr& part) {
    return part->kind() == c10::TypeKind::ListType || part->kind() == c10::TypeKind::DictType ||
           holds_containers(part);
  });
}

class Lifter {
 public:
  Lifter(std::shared_ptr<torch::jit::Graph>& graph, const torch::jit::Module& module)
      : graph_(graph), module_(module), self_(graph->inputs().at(0)) {
    for (const auto& entry : module.named_buffers()) remember(entry.name, entry.value, false);
    for (const auto& entry : module.named_parameters()) remember(entry.name, entry.value, true);
  }

  Expected<std::vector<FlatWeight>> run() {
    std::vector<Node*> reads;
    std::string written;
    for_each_node(graph_->block(), [&](Node* node) {
      if (node->kind() == c10::prim::GetAttr) reads.push_back(node);
      if (node->kind() == c10::prim::SetAttr && is_of_self(node->input(0))) {
        written = node->s(c10::attr::name);
      }
    });
    if (!written.empty()) return keeps_state(written);
    for (Node* read : reads) PARETO_TRY(lift(read));
    PARETO_TRY(check_unchanged());
    torch::jit::EliminateDeadCode(graph_->block());
    if (self_->hasUses()) {
      return fail(ErrorCode::kInvalidArgument,
                  "the model uses a module as a value ({}), which the flat form cannot express",
                  self_->uses().at(0).user->kind().toQualString());
    }
    graph_->eraseInput(0);
    return std::move(weights_);
  }

 private:
  void remember(const std::string& path, const at::Tensor& tensor, bool is_parameter) {
    named_[tensor.unsafeGetTensorImpl()] = {tensor, path, is_parameter, true};
  }

  /// Returns whether an object is the module, one inside it, or one that it holds.
  bool is_of_self(const jit::Value* object) const {
    while (object != self_ && object->node()->kind() == c10::prim::GetAttr) {
      object = object->node()->input();
    }
    return object == self_;
  }

  Expected<> lift(Node* read) {
    const auto attribute = find(read);
    if (!attribute) return {};
    // Packed weights of a quantised layer are an object that stays whole.
    if (attribute->value.isObject() && !attribute->value.isCustomClass()) return {};
    if (attribute->value.isTensor()) {
      read->output()->replaceAllUsesWith(weight(*attribute));
      return {};
    }
    scope_ = read->scope();
    if (!is_structured(attribute->value)) {
      const torch::jit::WithInsertPoint here(read);
      PARETO_ASSIGN(jit::Value * constant, insert(attribute->value, attribute->path));
      read->output()->replaceAllUsesWith(constant);
      return {};
    }
    // One for all who read it: each sees what another one changes.
    jit::Value*& shared = structured_[attribute->path];
    if (shared == nullptr) {
      Node* before = read;
      while (before->owningBlock() != graph_->block()) before = before->owningBlock()->owningNode();
      const torch::jit::WithInsertPoint here(before);
      PARETO_ASSIGN(shared, insert(attribute->value, attribute->path));
    }
    read->output()->replaceAllUsesWith(shared);
    return {};
  }

  /// Constants, and weights where it holds tensors.
  Expected<jit::Value*> insert(const c10::IValue& value, const std::string& path) {
    if (value.isTensor() && value.toTensor().defined()) {
      const auto known = named_.find(value.toTensor().unsafeGetTensorImpl());
      return weight(known != named_.end() ? known->second : Attribute{value, path, false, false});
    }
    if (is_structured(value) && runtime::holds_tensors(value)) return insert_parts(value, path);
    // An object in a constant must not keep the code alive that holds the constant.
    const bool is_packed = value.isCustomClass();
    const auto constant = torch::jit::tryInsertConstant(
        *graph_, is_packed ? value.toObject()->copy_to_weak_compilation_ref() : value);
    if (constant) return *constant;
    return fail(ErrorCode::kInvalidArgument, "attribute {} holds a {}, which is no constant", path,
                value.tagKind());
  }

  Expected<jit::Value*> insert_parts(const c10::IValue& value, const std::string& path) {
    std::vector<jit::Value*> keys;
    std::vector<jit::Value*> parts;
    const auto add = [&](const c10::IValue& part) -> Expected<> {
      PARETO_ASSIGN(jit::Value * inserted, insert(part, path + "." + std::to_string(parts.size())));
      parts.push_back(inserted);
      return {};
    };
    if (value.isList()) {
      for (const c10::IValue& part : value.toListRef()) PARETO_TRY(add(part));
      return insert(graph_->createList(value.toList().elementType(), parts));
    }
    if (value.isTuple()) {
      for (const c10::IValue& part : value.toTupleRef().elements()) PARETO_TRY(add(part));
      const c10::TupleTypePtr type = value.toTuple()->type();
      return insert(graph_->createTuple(parts, type->schema() ? type : nullptr));
    }
    const auto dict = value.toGenericDict();
    for (const auto& entry : dict) {
      keys.push_back(graph_->insertConstant(entry.key()));
      PARETO_TRY(add(entry.value()));
    }
    return insert(graph_->createDict(dict.keyType(), dict.valueType(), keys, parts));
  }

  jit::Value* insert(Node* node) {
    node->setScope(scope_);
    return graph_->insertNode(node)->output();
  }

  /// Changed lists and dicts would have to be there for the next request.
  Expected<> check_unchanged() {
    if (structured_.empty() || changed_attribute() == nullptr) return {};
    // Perhaps in branches that only training takes. While those go, being an output keeps all
    // others.
    const std::size_t outputs = graph_->outputs().size();
    for (const auto& [path, value] : structured_) graph_->registerOutput(value);
    torch::jit::ConstantPropagation(graph_);
    const std::string* changed = changed_attribute();
    while (graph_->outputs().size() > outputs) graph_->eraseOutput(outputs);
    if (changed != nullptr) return keeps_state(*changed);
    return {};
  }

  /// Returns the path of one whose list or dict, or one inside, an operator changes; null where
  /// there is none.
  const std::string* changed_attribute() const {
    const torch::jit::AliasDb aliases(graph_);
    std::vector<jit::Value*> changed;
    for_each_node(graph_->block(), [&](Node* node) {
      for (jit::Value* input : node->inputs()) {
        if (is_container(input) && aliases.writesToAlias(node, {input})) changed.push_back(input);
      }
    });
    for (const auto& [path, value] : structured_) {
      for (jit::Value* other : changed) {
        const bool is_hit = holds_containers(value->type()) ? aliases.mayContainAlias(value, other)
                                                            : aliases.mayAlias(value, other);
        if (is_hit) return &path;
      }
    }
    return nullptr;
  }

  /// Returns the attribute that a chain of reads from `self` ends at; none for a chain that starts
  /// elsewhere.
  std::optional<Attribute> find(Node* read) const {
    std::vector<std::string> names;
    const jit::Value* object = read->output();
    while (object != self_) {
      const Node* node = object->node();
      if (node->kind() != c10::prim::GetAttr) return std::nullopt;
      names.push_back(node->s(c10::attr::name));
      object = node->input();
    }
    Attribute found{module_._ivalue(), "", false, true};
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      const auto holder = found.value.toObject();
      const auto slot = holder->type()->getAttributeSlot(*name);
      const bool is_module = holder->type()->is_module();
      found.is_parameter = is_module && holder->type()->is_parameter(slot);
      found.in_state_dict = found.in_state_dict && is_module;
      found.value = holder->getSlot(slot);
      found.path += (found.path.empty() ? "" : ".") + *name;
    }
    return found;
  }

  jit::Value* weight(const Attribute& attribute) {
    const at::Tensor tensor = attribute.value.toTensor();
    jit::Value*& value = values_[tensor.unsafeGetTensorImpl()];
    if (value == nullptr) {
      value = graph_->addInput();
      value->setType(c10::TensorType::get());
      weights_.push_back({attribute.path, tensor.detach(), attribute.is_parameter, false,
                          attribute.in_state_dict,
                          attribute.is_parameter && tensor.requires_grad()});
    }
    return value;
  }

  std::shared_ptr<torch::jit::Graph>& graph_;
  const torch::jit::Module& module_;
  jit::Value* self_;
  torch::jit::ScopePtr scope_;  ///< scope of the read that is being lifted
  /// Parameters and buffers, under the names that checkpoints have for them.
  std::unordered_map<const c10::TensorImpl*, Attribute> named_;
  std::unordered_map<const c10::TensorImpl*, jit::Value*> values_;
  std::map<std::string, jit::Value*> structured_;  ///< lists, tuples and dicts, by path
  std::vector<FlatWeight> weights_;
};

}  // namespace

Expected<std::vector<FlatWeight>> lift_attributes(std::shared_ptr<torch::jit::Graph>& graph,
                                                  const torch::jit::Module& module) {
  return Lifter(graph, module).run();
}

void lift_constants(torch::jit::Graph& graph, std::vector<FlatWeight>& weights) {
  std::vector<Node*> large;
  for_each_node(graph.block(), [&](Node* node) {
    if (node->kind() != c10::prim::Constant) return;
    const auto value = torch::jit::toIValue(node->output());
    if (value && value->isTensor() && value->toTensor().defined() &&
        value->toTensor().nbytes() > kLargeConstantBytes) {
      large.push_back(node);
    }
  });
  std::unordered_map<const c10::TensorImpl*, jit::Value*> lifted;
  std::size_t number = 0;
  const auto unused_name = [&] {
    std::string name;
    do {
      name = "constants." + std::to_string(number++);
    } while (std::ranges::find(weights, name, &FlatWeight::name) != weights.end());
    return name;
  };
  for (Node* node : large) {
    const at::Tensor tensor = torch::jit::toIValue(node->output())->toTensor();
    jit::Value*& value = lifted[tensor.unsafeGetTensorImpl()];
    if (value == nullptr) {
      value = graph.addInput();
      value->setType(c10::TensorType::get());
      weights.push_back({unused_name(), tensor, false, false, false});
    }
    node->output()->replaceAllUsesWith(value);
    node->destroy();
  }
}

void drop_unused_weights(torch::jit::Graph& graph, std::vector<FlatWeight>& weights) {
  const std::size_t first = graph.inputs().size() - weights.size();
  for (std::size_t i = weights.size(); i > 0; --i) {
    if (graph.inputs()[first + i - 1]->hasUses()) continue;
    graph.eraseInput(first + i - 1);
    weights.erase(weights.begin() + static_cast<std::ptrdiff_t>(i - 1));
  }
}

}  // namespace pareto::model
