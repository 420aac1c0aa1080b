#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <string>
#include <vector>

#include "partitioner/model/graph/flat_graph.h"
#include "partitioner/model/graph/flatten.h"

namespace pareto::model {
namespace {

using torch::jit::Block;
using torch::jit::Node;
namespace jit = torch::jit;

/// The entries that a dict holds at one place of a graph, in the order of Python's dicts.
class Entries {
 public:
  /// Returns false if the key is no constant.
  bool set(jit::Value* key, jit::Value* value) {
    const auto known = torch::jit::toIValue(key);
    if (!known) return false;
    if (Entry* entry = find(*known)) {
      entry->value = value;
    } else {
      entries_.push_back({*known, key, value});
    }
    return true;
  }
  std::vector<jit::Value*> keys() const {
    std::vector<jit::Value*> all;
    for (const Entry& entry : entries_) all.push_back(entry.key);
    return all;
  }
  std::vector<jit::Value*> values() const {
    std::vector<jit::Value*> all;
    for (const Entry& entry : entries_) all.push_back(entry.value);
    return all;
  }
  /// Returns null if the dict has no such key.
  jit::Value* at(const c10::IValue& key) {
    Entry* entry = find(key);
    return entry == nullptr ? nullptr : entry->value;
  }

 private:
  struct Entry {
    c10::IValue known;
    jit::Value* key;
    jit::Value* value;
  };
  Entry* find(const c10::IValue& key) {
    const auto at = std::ranges::find_if(entries_, [&](const Entry& e) { return e.known == key; });
    return at == entries_.end() ? nullptr : &*at;
  }

  std::vector<Entry> entries_;
};

/// Puts values in place of what is read from one dict, as far as its entries are known.
class DictReader {
 public:
  explicit DictReader(Node* maker)
      : maker_(maker), type_(maker->output()->type()->expect<c10::DictType>()) {}

  void run() {
    for (std::size_t i = 0; i + 1 < maker_->inputs().size(); i += 2) {
      if (!entries_.set(maker_->input(i), maker_->input(i + 1))) return;
    }
    std::vector<Node*> users;
    for (const torch::jit::Use& use : maker_->output()->uses()) users.push_back(use.user);
    // What a branch or a loop reads or changes is not followed; nor what happens after it.
    const Block* block = maker_->owningBlock();
    std::ranges::sort(users, [](const Node* a, const Node* b) { return a->isBefore(b); });
    users.erase(std::unique(users.begin(), users.end()), users.end());
    for (Node* user : users) {
      if (user->owningBlock() != block || !visit(user)) return;
    }
  }

 private:
  /// Returns false if the dict may be another one afterwards.
  bool visit(Node* user) {
    const jit::Value* dict = maker_->output();
    if (user->inputs().empty() || user->input(0) != dict) return false;
    if (std::ranges::count(user->inputs(), dict) > 1) return false;
    if (user->kind() == c10::aten::_set_item) return entries_.set(user->input(1), user->input(2));
    torch::jit::Graph& graph = *user->owningGraph();
    const torch::jit::WithInsertPoint here(user);
    const auto list = [&](const c10::TypePtr& element, const std::vector<jit::Value*>& items) {
      return graph.insertNode(graph.createList(element, items))->output();
    };
    const std::string kind = user->kind().toQualString();
    jit::Value* result = nullptr;
    if (kind == "aten::len") {
      result = graph.insertConstant(static_cast<std::int64_t>(entries_.keys().size()));
    } else if (kind == "aten::keys") {
      result = list(type_->getKeyType(), entries_.keys());
    } else if (kind == "aten::values") {
      result = list(type_->getValueType(), entries_.values());
    } else if (kind == "aten::items") {
      result =
          list(user->output()->type()->expect<c10::ListType>()->getElementType(), pairs(graph));
    } else if (kind == "aten::__contains__" || kind == "aten::__getitem__" || kind == "aten::get") {
      const auto key = torch::jit::toIValue(user->input(1));
      if (!key) return kind != "aten::get";
      result = entries_.at(*key);
      if (kind == "aten::__contains__") {
        result = graph.insertConstant(result != nullptr);
      } else if (result == nullptr && kind == "aten::get") {
        result = user->inputs().size() > 2 ? user->input(2) : graph.insertConstant(c10::IValue());
      }
    } else {
      return false;
    }
    if (result == nullptr) return true;  // there is no such key: that stays an error
    user->output()->replaceAllUsesWith(result);
    user->destroy();
    return true;
  }

  std::vector<jit::Value*> pairs(torch::jit::Graph& graph) const {
    std::vector<jit::Value*> all;
    const std::vector<jit::Value*> keys = entries_.keys();
    const std::vector<jit::Value*> values = entries_.values();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      all.push_back(graph.insertNode(graph.createTuple({keys[i], values[i]}))->output());
    }
    return all;
  }

  Node* maker_;
  c10::DictTypePtr type_;
  Entries entries_;
};

/// Makes `{}` of `dict()` and `OrderedDict()`, and `{key: value, …}` of a list of pairs.
void make_literal(Node* node) {
  const auto type = node->output()->type()->cast<c10::DictType>();
  if (!type || node->inputs().size() > 1) return;
  std::vector<jit::Value*> keys;
  std::vector<jit::Value*> values;
  if (!node->inputs().empty()) {
    const jit::Value* pairs = node->input(0);
    // Nobody else may have the list, and change it.
    if (pairs->node()->kind() != c10::prim::ListConstruct || pairs->uses().size() != 1) return;
    for (const jit::Value* pair : pairs->node()->inputs()) {
      if (pair->node()->kind() != c10::prim::TupleConstruct || pair->node()->inputs().size() != 2) {
        return;
      }
      // Of two equal keys the last one counts.
      if (!torch::jit::toIValue(pair->node()->input(0))) return;
      keys.push_back(pair->node()->input(0));
      values.push_back(pair->node()->input(1));
    }
  }
  Entries entries;
  for (std::size_t i = 0; i < keys.size(); ++i) entries.set(keys[i], values[i]);
  torch::jit::Graph& graph = *node->owningGraph();
  const torch::jit::WithInsertPoint here(node);
  Node* fresh = graph.insertNode(
      graph.createDict(type->getKeyType(), type->getValueType(), entries.keys(), entries.values()));
  fresh->copyMetadata(node);
  node->output()->replaceAllUsesWith(fresh->output());
  node->destroy();
}

/// Makes a list of its own of `list(items)`, if nobody else has `items`.
void make_list(Node* node) {
  const auto type = node->output()->type()->cast<c10::ListType>();
  if (!type || node->inputs().size() != 1) return;
  Node* items = node->input(0)->node();
  if (items->kind() != c10::prim::ListConstruct || items->output()->uses().size() != 1) return;
  torch::jit::Graph& graph = *node->owningGraph();
  const torch::jit::WithInsertPoint here(node);
  Node* fresh = graph.insertNode(graph.createList(type->getElementType(), items->inputs()));
  fresh->copyMetadata(node);
  node->output()->replaceAllUsesWith(fresh->output());
  node->destroy();
}

}  // namespace

void read_dicts(torch::jit::Graph& graph) {
  for (Node* node : nodes_of_kind(graph.block(), c10::aten::dict)) make_literal(node);
  static const c10::Symbol kList = c10::Symbol::fromQualString("aten::list");
  for (Node* node : nodes_of_kind(graph.block(), kList)) make_list(node);
  for (Node* node : nodes_of_kind(graph.block(), c10::prim::DictConstruct)) DictReader(node).run();
}

}  // namespace pareto::model
