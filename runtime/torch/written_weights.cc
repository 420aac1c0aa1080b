#include "runtime/torch/written_weights.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_set>

#include "runtime/torch/map_tensors.h"
#include "runtime/torch/reached_writes.h"

namespace pareto::runtime {
namespace {

using torch::jit::Block;
using torch::jit::Graph;
using torch::jit::Node;
namespace jit = torch::jit;

/// Returns the tensors in the same order for every copy of a graph.
std::vector<jit::Value*> given_tensors(Graph& graph) {
  std::vector<jit::Value*> tensors;
  for (jit::Value* input : graph.inputs()) {
    if (is_tensor(input)) tensors.push_back(input);
  }
  for_each_node(graph.block(), [&](Node* node) {
    if (node->kind() == c10::prim::GetAttr && is_tensor(node->output())) {
      tensors.push_back(node->output());
    }
  });
  return tensors;
}

/// Returns the value that a node takes for that argument; null if it takes none.
const jit::Value* argument(const Node* node, const char* name) {
  const c10::FunctionSchema* const schema = node->maybeSchema();
  const auto index = schema != nullptr ? to_std(schema->argumentIndexWithName(name)) : std::nullopt;
  if (!index || static_cast<std::size_t>(*index) >= node->inputs().size()) return nullptr;
  return node->input(static_cast<std::size_t>(*index));
}

/// Returns whether a norm is known to leave its statistics as they are.
bool only_reads_statistics(const Node* node) {
  // It writes back the mean of those of each sample, also if these have not changed: other bits.
  if (node->kind() == c10::aten::instance_norm) return false;
  const jit::Value* training = argument(node, "training");
  if (training == nullptr) training = argument(node, "train");
  if (training == nullptr) return false;
  const auto trains = jit::toIValue(training);
  return trains && trains->isBool() && !trains->toBool();
}

/// Inserts a copy of a tensor, which each run makes for itself. It is no clone: passes that do not
/// know what a norm writes would take that for a constant.
jit::Value* insert_copy(Graph& graph, jit::Value* tensor) {
  jit::Value* const copy = graph.insert(c10::aten::empty_like, {tensor});
  graph.insert(c10::aten::copy_, {copy, tensor});
  return copy;
}

}  // namespace

bool is_tensor(const jit::Value* value) {
  return value->type()->kind() == c10::TypeKind::TensorType;
}

void for_each_node(Block* block, const std::function<void(Node*)>& visit) {
  for (Node* node : block->nodes()) {
    visit(node);
    for (Block* inner : node->blocks()) for_each_node(inner, visit);
  }
}

std::vector<const jit::Value*> marked_writes(const Node* node) {
  std::vector<const jit::Value*> written;
  const c10::FunctionSchema* const schema = node->maybeSchema();
  if (schema == nullptr) return written;
  const auto& arguments = schema->arguments();
  for (std::size_t i = 0; i < std::min(arguments.size(), node->inputs().size()); ++i) {
    const c10::AliasInfo* const alias = arguments[i].alias_info();
    if (alias != nullptr && alias->isWrite()) written.push_back(node->input(i));
  }
  return written;
}

std::vector<const jit::Value*> unmarked_writes(const Node* node) {
  std::vector<const jit::Value*> written;
  for (const char* const name : {"running_mean", "running_var"}) {
    const jit::Value* const statistic = argument(node, name);
    if (statistic == nullptr || statistic->type()->kind() == c10::TypeKind::NoneType) continue;
    written.push_back(statistic);
  }
  if (!written.empty() && only_reads_statistics(node)) written.clear();
  return written;
}

bool writes_anything(Block* block) {
  bool writes = false;
  for_each_node(block, [&](Node* node) {
    const bool marked = node->maybeSchema() != nullptr && node->schema().is_mutable();
    writes = writes || marked || !unmarked_writes(node).empty();
  });
  return writes;
}

bool writes_own_weights(const jit::Module& module) {
  const auto functions = module._ivalue()->compilation_unit()->get_functions();
  if (functions.size() < 2) {
    Graph& graph = *module.get_method("run").graph();
    return may_write_to(graph, {graph.inputs().at(0)});
  }
  return std::ranges::any_of(functions, [](jit::Function* function) {
    auto* const code = jit::tryToGraphFunction(*function);
    return code == nullptr || writes_anything(code->graph()->block());
  });
}

jit::Value* cloned(jit::Value* tensor) {
  Graph& graph = *tensor->owningGraph();
  const bool is_input = tensor->node() == graph.param_node();
  const torch::jit::WithInsertPoint here(is_input ? *graph.nodes().begin()
                                                  : tensor->node()->next());
  Node* clone = graph.insert(c10::aten::clone, {tensor})->node();
  tensor->replaceAllUsesWith(clone->output());
  clone->replaceInput(0, tensor);
  return clone->output();
}

std::vector<jit::Value*> written_tensors(Graph& graph) {
  std::unordered_set<const jit::Value*> written;
  for_each_node(graph.block(), [&](Node* node) {
    for (const jit::Value* statistic : unmarked_writes(node)) written.insert(statistic);
  });
  std::vector<jit::Value*> tensors = given_tensors(graph);
  if (writes_anything(graph.block())) {
    const auto copy = graph.copy();
    std::vector<jit::Value*> copies = given_tensors(*copy);
    for (jit::Value*& tensor : copies) tensor = cloned(tensor);
    const torch::jit::AliasDb aliases(copy);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (aliases.hasWriters(copies[i])) written.insert(tensors[i]);
    }
  }
  std::erase_if(tensors, [&](const jit::Value* tensor) { return !written.contains(tensor); });
  return tensors;
}

std::size_t copy_written_weights(Graph& graph) {
  jit::Value* self = graph.inputs().at(0);
  const auto is_weight = [self](const jit::Value* tensor) {
    return tensor->node()->kind() == c10::prim::GetAttr && tensor->node()->input() == self;
  };
  std::map<std::string, jit::Value*> copies;
  for (const jit::Value* tensor : written_tensors(graph)) {
    if (is_weight(tensor)) copies[tensor->node()->s(c10::attr::name)] = nullptr;
  }
  const std::vector<jit::Value*> tensors = given_tensors(graph);
  const torch::jit::WithInsertPoint start(*graph.nodes().begin());
  for (auto& [name, copy] : copies) {
    copy = insert_copy(graph, graph.insertGetAttr(self, name));
  }
  for (jit::Value* tensor : tensors) {
    if (!is_weight(tensor)) continue;
    const auto found = copies.find(tensor->node()->s(c10::attr::name));
    if (found != copies.end()) tensor->replaceAllUsesWith(found->second);
  }
  return 2 * copies.size();
}

std::vector<jit::Value*> tensor_constants(Graph& graph) {
  std::vector<jit::Value*> constants;
  for_each_node(graph.block(), [&](Node* node) {
    if (node->kind() != c10::prim::Constant) return;
    const auto value = jit::toIValue(node->output());
    if (value && holds_tensors(*value)) constants.push_back(node->output());
  });
  return constants;
}

std::size_t copy_written_constants(Graph& graph) {
  const auto constants = tensor_constants(graph);
  if (!may_write_to(graph, {constants.begin(), constants.end()})) return 0;
  MemoryGroups groups(graph);
  std::set<std::size_t> written;
  for_each_node(graph.block(), [&](const Node* node) { written.merge(groups.written_by(node)); });
  std::size_t copies = 0;
  const torch::jit::WithInsertPoint start(*graph.nodes().begin());
  for (jit::Value* const constant : constants) {
    if (!is_tensor(constant) || !written.contains(groups.of(constant))) continue;
    jit::Value* const kept = graph.insertConstant(*jit::toIValue(constant));
    constant->replaceAllUsesWith(insert_copy(graph, kept));
    ++copies;
  }
  return 2 * copies;
}

}  // namespace pareto::runtime
