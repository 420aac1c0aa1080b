#include "runtime/execution/operator_graph.h"

#include <torch/csrc/jit/ir/alias_analysis.h>

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "runtime/torch/compat.h"
#include "runtime/torch/interruption.h"
#include "runtime/torch/reached_writes.h"
#include "runtime/torch/written_weights.h"

namespace pareto::runtime {
namespace {

using torch::jit::Node;
namespace jit = torch::jit;

/// Returns whether those who read a node's value make it again: a constant, or a list or tuple that
/// nobody changes.
bool is_remade(const Node* node, const jit::AliasDb& aliases) {
  if (node->kind() == c10::prim::Constant) return true;
  const bool joins =
      node->kind() == c10::prim::ListConstruct || node->kind() == c10::prim::TupleConstruct;
  return joins && !aliases.hasWriters(node->output());
}

/// Calls visit for each value that a node reads; its blocks may read values from outside too.
template <typename Visit>
void for_each_read(const Node* node, const Visit& visit) {
  std::unordered_set<const jit::Value*> inside;
  const auto walk = [&](const auto& self, const Node* one) -> void {
    for (const jit::Value* input : one->inputs()) {
      if (!inside.contains(input)) visit(const_cast<jit::Value*>(input));
    }
    for (const jit::Block* block : one->blocks()) {
      for (const jit::Value* input : block->inputs()) inside.insert(input);
      for (const Node* inner : block->nodes()) {
        self(self, inner);
        for (const jit::Value* output : inner->outputs()) inside.insert(output);
      }
      self(self, block->return_node());
    }
  };
  walk(walk, node);
}

/// Returns the module path of a node; of one that a pass put in, that of what it reads.
std::string scope_of(const Node* node) {
  for (int step = 0; step < 8; ++step) {
    if (std::string name = node->scopeName(); !name.empty()) return name;
    if (node->inputs().empty()) break;
    node = node->input(0)->node();
  }
  return "";
}

/// Returns whether a value may hold tensors that are written through it.
bool is_container(const jit::Value* value) {
  const auto kind = value->type()->kind();
  return kind == c10::TypeKind::ListType || kind == c10::TypeKind::DictType ||
         kind == c10::TypeKind::TupleType || kind == c10::TypeKind::OptionalType ||
         kind == c10::TypeKind::AnyType;
}

/// Returns whether a node, or one inside its blocks, draws random numbers or does what is seen
/// outside.
bool keeps_its_place(const Node* node) {
  if (node->isNondeterministic() || (node->hasSideEffects() && node->kind() != c10::prim::If &&
                                     node->kind() != c10::prim::Loop)) {
    return true;
  }
  for (const jit::Block* block : node->blocks()) {
    for (const Node* inner : block->nodes()) {
      if (keeps_its_place(inner)) return true;
    }
  }
  return false;
}

}  // namespace

OperatorGraph::OperatorGraph(std::shared_ptr<jit::Graph> graph) : graph_(std::move(graph)) {
  const jit::AliasDb aliases(graph_);
  MemoryGroups groups(*graph_);
  for (jit::Value* input : graph_->inputs()) {
    numbers_.emplace(input, values_.size());
    values_.push_back(input);
  }
  for (Node* node : graph_->nodes()) {
    if (is_remade(node, aliases)) continue;
    std::vector<std::size_t>& made = made_.emplace_back();
    for (jit::Value* output : node->outputs()) {
      made.push_back(values_.size());
      numbers_.emplace(output, values_.size());
      values_.push_back(output);
      makers_.push_back(operators_.size());
    }
    operators_.push_back(node);
  }

  struct Touched {
    jit::ValueSet values;           ///< values that it reads and makes
    std::set<std::size_t> groups;   ///< of memory, theirs and of constants that it reads
    std::set<std::size_t> written;  ///< of memory, that it may write to
    bool container = false;         ///< it touches one, in which any tensor may be
  };
  std::vector<Touched> touched(operators_.size());
  std::vector<std::size_t> writers;
  std::size_t last_in_place = SIZE_MAX;
  for (std::size_t i = 0; i < operators_.size(); ++i) {
    Node* const node = operators_[i];
    std::set<std::size_t> after;
    const auto touch = [&](jit::Value* value) {
      touched[i].values.insert(value);
      touched[i].groups.insert(groups.of(value));
      touched[i].container = touched[i].container || is_container(value);
    };
    const auto read = [&](const auto& self, jit::Value* value) -> void {
      const auto known = numbers_.find(value);
      if (known == numbers_.end()) {
        touched[i].groups.insert(groups.of(value));
        // A list or tuple that is made again: what it holds counts.
        for (jit::Value* held : value->node()->inputs()) self(self, held);
        return;
      }
      touch(value);
      if (known->second >= first_made()) after.insert(maker(known->second));
    };
    for_each_read(node, [&](jit::Value* value) { read(read, value); });
    // isMutable() asks for the node's own inputs. A branch also writes to what its blocks read.
    const auto add_written = [&](const Node* one) {
      touched[i].written.merge(groups.written_by(one));
    };
    add_written(node);
    for (jit::Block* block : node->blocks()) for_each_node(block, add_written);
    const bool writes = aliases.isMutable(node) || aliases.writesToAlias(node, touched[i].values) ||
                        !touched[i].written.empty();
    for (jit::Value* output : node->outputs()) touch(output);
    const auto clash = [&](std::size_t writer, std::size_t other) {
      return touched[writer].container || touched[other].container ||
             aliases.writesToAlias(operators_[writer], touched[other].values) ||
             std::ranges::any_of(touched[writer].written, [&](std::size_t group) {
               return touched[other].groups.contains(group);
             });
    };
    for (const std::size_t writer : writers) {
      if (clash(writer, i)) after.insert(writer);
    }
    if (writes) {
      for (std::size_t before = 0; before < i; ++before) {
        if (clash(i, before)) after.insert(before);
      }
      writers.push_back(i);
    }
    if (keeps_its_place(node)) {
      if (last_in_place != SIZE_MAX) after.insert(last_in_place);
      last_in_place = i;
    }
    schedules::WeightedNode weighted;
    weighted.kind = node->hasAttribute(kind_attribute()) ? node->s(kind_attribute())
                                                         : node->kind().toQualString();
    weighted.scope = scope_of(node);
    weighted.after.assign(after.begin(), after.end());
    weighted_.nodes.push_back(std::move(weighted));
  }
}

/// Copies nodes into a new graph. What they read from outside becomes its inputs.
class OperatorGraph::Copy {
 public:
  explicit Copy(const OperatorGraph& from) : from_(from) {
    cut_.graph = std::make_shared<jit::Graph>();
  }

  void add(Node* node) {
    for_each_read(node, [this](jit::Value* value) { map(value); });
    Node* const copy =
        cut_.graph->createClone(node, [this](jit::Value* value) { return mapped_.at(value); });
    cut_.graph->block()->appendNode(copy);
    for (std::size_t i = 0; i < node->outputs().size(); ++i) {
      mapped_[node->outputs()[i]] = copy->outputs()[i];
    }
  }

  void give(jit::Value* value) { cut_.graph->registerOutput(map(value)); }

  CutGraph take() {
    insert_stop_checks(*cut_.graph);
    return std::move(cut_);
  }

  CutGraph cut_{};

 private:
  jit::Value* map(jit::Value* value) {
    if (const auto known = mapped_.find(value); known != mapped_.end()) return known->second;
    const auto number = from_.numbers_.find(value);
    if (number == from_.numbers_.end()) {
      add(value->node());
      return mapped_.at(value);
    }
    jit::Value* const input = cut_.graph->addInput();
    input->setType(value->type());
    cut_.inputs.push_back(number->second);
    mapped_.emplace(value, input);
    return input;
  }

  const OperatorGraph& from_;
  std::unordered_map<const jit::Value*, jit::Value*> mapped_;
};

CutGraph OperatorGraph::cut(const std::vector<std::size_t>& operators,
                            const std::vector<std::size_t>& outputs) const {
  Copy copy(*this);
  for (const std::size_t number : operators) copy.add(operators_[number]);
  for (const std::size_t output : outputs) copy.give(values_[output]);
  copy.cut_.outputs = outputs;
  return copy.take();
}

CutGraph OperatorGraph::cut_result() const {
  Copy copy(*this);
  copy.give(graph_->outputs()[0]);
  return copy.take();
}

}  // namespace pareto::runtime
