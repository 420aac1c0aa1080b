#include "runtime/torch/reached_writes.h"

#include <algorithm>
#include <unordered_set>

#include "runtime/torch/returned_memory.h"
#include "runtime/torch/written_weights.h"

namespace pareto::runtime {
namespace {

using torch::jit::Block;
using torch::jit::Node;
namespace jit = torch::jit;

/// Returns whether a value of that type may be a tensor, or hold one.
bool may_hold_tensor(const c10::TypePtr& type) {
  switch (type->kind()) {
    case c10::TypeKind::IntType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::ComplexType:
    case c10::TypeKind::NumberType:
    case c10::TypeKind::BoolType:
    case c10::TypeKind::StringType:
    case c10::TypeKind::NoneType:
    case c10::TypeKind::DeviceObjType:
      return false;
    case c10::TypeKind::ListType:
    case c10::TypeKind::TupleType:
    case c10::TypeKind::DictType:
    case c10::TypeKind::OptionalType: {
      const auto parts = type->containedTypes();
      return std::any_of(parts.begin(), parts.end(), may_hold_tensor);
    }
    default:
      return true;
  }
}

/// Returns whether all that an operator returns are tensors in memory of their own. Nothing else is
/// taken for new, so that one that is not known to costs a copy, and no more.
bool makes_own(const Node* node) {
  const auto outputs = node->outputs();
  return returns_own_memory(node->kind()) && std::all_of(outputs.begin(), outputs.end(), is_tensor);
}

bool is_call(const Node* node) {
  return node->kind() == c10::prim::CallFunction || node->kind() == c10::prim::CallMethod;
}

/// Returns whether a node makes a list or tuple that only the graph's result, and operators whose
/// results are new, read. What is in it does not come out of it.
bool only_passes_on(const Node* node) {
  if (node->kind() != c10::prim::ListConstruct && node->kind() != c10::prim::TupleConstruct) {
    return false;
  }
  const Node* const result = node->owningGraph()->return_node();
  return std::ranges::all_of(node->output()->uses(), [&](const jit::Use& use) {
    return use.user == result || makes_own(use.user);
  });
}

/// Returns the tensor that a node writes to and returns; null if it does something else.
const jit::Value* written_in_place(const Node* node) {
  const auto written = marked_writes(node);
  const bool in_place = written.size() == 1 && node->outputs().size() == 1 &&
                        is_tensor(written[0]) && is_tensor(node->output());
  return in_place ? written[0] : nullptr;
}

bool has_branches(const Node* node) {
  return node->kind() == c10::prim::Loop || node->kind() == c10::prim::If;
}

/// Calls visit(from, to) for each value that a loop or a branch hands on, and what it is there.
template <typename Visit>
void for_each_passed(const Node* node, const Visit& visit) {
  const bool loops = node->kind() == c10::prim::Loop;
  for (std::size_t i = 0; i < node->outputs().size(); ++i) {
    for (const Block* const block : node->blocks()) {
      if (!loops) {
        visit(block->outputs()[i], node->outputs()[i]);
        continue;
      }
      for (const jit::Value* const from : {node->inputs()[i + 2], block->outputs()[i + 1]}) {
        visit(from, block->inputs()[i + 1]);
        visit(from, node->outputs()[i]);
      }
    }
  }
}

/// The values of a graph that may lead to a tensor of `roots`.
class Reached {
 public:
  Reached(jit::Graph& graph, const std::vector<const jit::Value*>& roots)
      : values_(roots.begin(), roots.end()) {
    std::size_t before = 0;
    // A loop hands values back to its beginning.
    while (before != values_.size()) {
      before = values_.size();
      for_each_node(graph.block(), [this](Node* node) { follow(node); });
    }
  }

  /// Returns whether the node may write to one of them, or puts one into what has other names too.
  bool is_written_by(const Node* node) const {
    const auto statistics = unmarked_writes(node);
    if (std::ranges::any_of(statistics, [&](const jit::Value* value) { return contains(value); })) {
      return true;
    }
    if (is_call(node)) return has_input(node);
    const auto written = marked_writes(node);
    return std::ranges::any_of(written, [&](const jit::Value* value) {
      return contains(value) || (!is_tensor(value) && has_input(node));
    });
  }

 private:
  bool contains(const jit::Value* value) const { return values_.contains(value); }
  bool has_input(const Node* node) const {
    const auto inputs = node->inputs();
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const jit::Value* v) { return contains(v); });
  }
  void pass(const jit::Value* from, const jit::Value* to) {
    if (contains(from) && may_hold_tensor(to->type())) values_.insert(to);
  }
  void follow(const Node* node) {
    if (has_branches(node)) {
      return for_each_passed(node, [this](const auto* from, const auto* to) { pass(from, to); });
    }
    if (makes_own(node) || !leads_on(node)) return;
    for (const jit::Value* const output : node->outputs()) {
      if (may_hold_tensor(output->type())) values_.insert(output);
    }
  }
  /// Returns whether one of them may come out of a node.
  bool leads_on(const Node* node) const {
    if (node->kind() == c10::prim::GetAttr) {
      // A module's parts have tensors of their own.
      return has_input(node) && node->output()->type()->isSubtypeOf(*c10::OptionalType::ofTensor());
    }
    const jit::Value* const written = written_in_place(node);
    return written != nullptr ? contains(written) : has_input(node);
  }

  std::unordered_set<const jit::Value*> values_;
};

}  // namespace

bool may_write_to(jit::Graph& graph, const std::vector<const jit::Value*>& roots) {
  if (roots.empty()) return false;
  const Reached reached(graph, roots);
  bool written = false;
  for_each_node(graph.block(),
                [&](const Node* node) { written = written || reached.is_written_by(node); });
  return written;
}

MemoryGroups::MemoryGroups(jit::Graph& graph) {
  for_each_node(graph.block(), [this](const Node* node) { follow(node); });
}

std::size_t MemoryGroups::of(const jit::Value* value) {
  const auto [found, added] = numbers_.try_emplace(value, parents_.size());
  if (added) parents_.push_back(found->second);
  std::size_t group = found->second;
  while (parents_[group] != group) group = parents_[group] = parents_[parents_[group]];
  return group;
}

std::set<std::size_t> MemoryGroups::written_by(const Node* node) {
  std::set<std::size_t> groups;
  for (const auto& written : {marked_writes(node), unmarked_writes(node)}) {
    for (const jit::Value* const value : written) groups.insert(of(value));
  }
  if (!is_call(node)) return groups;
  for (const jit::Value* const input : node->inputs()) {
    if (may_hold_tensor(input->type())) groups.insert(of(input));
  }
  return groups;
}

void MemoryGroups::unite(const jit::Value* one, const jit::Value* other) {
  if (may_hold_tensor(one->type()) && may_hold_tensor(other->type())) parents_[of(one)] = of(other);
}

void MemoryGroups::unite_all(const Node* node) {
  const jit::Value* first = nullptr;
  for (const auto& values : {node->inputs(), node->outputs()}) {
    for (const jit::Value* const value : values) {
      if (!may_hold_tensor(value->type())) continue;
      if (first == nullptr) first = value;
      unite(value, first);
    }
  }
}

void MemoryGroups::follow(const Node* node) {
  if (has_branches(node)) {
    return for_each_passed(node, [this](const auto* from, const auto* to) { unite(from, to); });
  }
  if (makes_own(node) || only_passes_on(node)) return;
  if (node->kind() == c10::prim::GetAttr) {
    // Attributes of one name may be the same object's.
    unite(node->output(),
          attributes_.emplace(node->s(c10::attr::name), node->output()).first->second);
    return;
  }
  if (const jit::Value* const written = written_in_place(node)) {
    unite(node->output(), written);
    return;
  }
  unite_all(node);
}

}  // namespace pareto::runtime
