#include "partitioner/model/graph/module_ends.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_set>

#include "partitioner/model/graph/groups.h"

namespace pareto::model {
namespace {

struct Module {
  std::string path;
  std::string name;                               ///< last part of the path
  std::vector<std::int64_t> operators;            ///< operators at or under the path, ascending
  std::int64_t own_operators = 0;                 ///< number of operators at the path itself
  std::vector<std::unique_ptr<Module>> children;  ///< children in order of first operator

  Module& child(const std::string& child_name) {
    for (auto& existing : children) {
      if (existing->name == child_name) return *existing;
    }
    auto made = std::make_unique<Module>();
    made->path = path.empty() ? child_name : path + "." + child_name;
    made->name = child_name;
    children.push_back(std::move(made));
    return *children.back();
  }
};

/// A dropout that belongs to the operator before it makes no module: no cut lies between them.
Module module_tree(const Graph& graph) {
  Module root;
  const std::vector<bool> joined = joined_dropouts(graph);
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    if (joined[i]) continue;
    const auto position = static_cast<std::int64_t>(i);
    Module* module = &root;
    module->operators.push_back(position);
    for (const std::string& path : path_prefixes(graph.operators[i].scope)) {
      const auto dot = path.rfind('.');
      module = &module->child(dot == std::string::npos ? path : path.substr(dot + 1));
      module->operators.push_back(position);
    }
    ++module->own_operators;
  }
  return root;
}

class Chooser {
 public:
  explicit Chooser(const Graph& graph) : graph_(graph) {}

  std::vector<std::string> run() {
    const Module root = module_tree(graph_);
    const Module* top = &root;
    // A wrapper that only holds one module is no level.
    while (top->children.size() == 1 && top->own_operators == 0) top = top->children[0].get();
    if (top->children.empty()) return {};
    // A single sequence at the top has been opened thereby.
    const int level = top != &root && numbered_alike(*top) ? 2 : 1;
    for (const auto& child : top->children) expand(*child, level);
    std::stable_sort(chosen_.begin(), chosen_.end(), [](const Module* a, const Module* b) {
      return a->operators.back() < b->operators.back();
    });
    std::vector<std::string> paths;
    for (const Module* module : chosen_) paths.push_back(module->path);
    return paths;
  }

 private:
  void expand(const Module& module, int level) {
    if (!is_sequence(module, level)) {
      chosen_.push_back(&module);
      return;
    }
    for (const auto& child : module.children) expand(*child, level + 1);
  }

  bool is_sequence(const Module& module, int level) const {
    if (module.children.size() < 2 || !is_chain(module)) return false;
    if (level == 1) return module.own_operators == 0 || mostly_composite(module);
    return numbered_alike(module) && mostly_composite(module);
  }

  /// Most of the operators lie in children that hold modules themselves.
  static bool mostly_composite(const Module& module) {
    std::size_t inside = 0;
    for (const auto& child : module.children) {
      if (!child->children.empty()) inside += child->operators.size();
    }
    return 2 * inside > module.operators.size();
  }

  /// Returns whether names are numbered alike: "0", "1", …, or "denselayer1", "denselayer2", ….
  static bool numbered_alike(const Module& module) {
    const auto stem = [](const std::string& name) {
      const auto last = name.find_last_not_of("0123456789");
      return last == std::string::npos ? std::string() : name.substr(0, last + 1);
    };
    return std::all_of(module.children.begin(), module.children.end(), [&](const auto& child) {
      const std::string start = stem(child->name);
      return start.size() < child->name.size() && start == stem(module.children[0]->name);
    });
  }

  /// Returns whether each child reads what the one before it made, directly or through operators
  /// that belong to no child.
  bool is_chain(const Module& module) const {
    std::vector<const Module*> owner(graph_.operators.size(), nullptr);
    for (const auto& child : module.children) {
      for (const std::int64_t position : child->operators) {
        owner[static_cast<std::size_t>(position)] = child.get();
      }
    }
    for (std::size_t i = 1; i < module.children.size(); ++i) {
      if (!reads_from(*module.children[i], module.children[i - 1].get(), owner)) return false;
    }
    return true;
  }

  bool reads_from(const Module& reader, const Module* source,
                  const std::vector<const Module*>& owner) const {
    std::vector<std::int64_t> pending = reader.operators;
    std::unordered_set<std::int64_t> seen(pending.begin(), pending.end());
    while (!pending.empty()) {
      const std::int64_t position = pending.back();
      pending.pop_back();
      for (const std::int64_t input : graph_.operators[static_cast<std::size_t>(position)].inputs) {
        for (const std::int64_t maker : makers(input, position)) {
          const Module* made_by = owner[static_cast<std::size_t>(maker)];
          if (made_by == source) return true;
          if (made_by == nullptr && seen.insert(maker).second) pending.push_back(maker);
        }
      }
    }
    return false;
  }

  /// Returns the operators before `position` that made a value or put something into it.
  std::vector<std::int64_t> makers(std::int64_t index, std::int64_t position) const {
    const GraphValue& value = graph_.values[static_cast<std::size_t>(index)];
    std::vector<std::int64_t> found;
    if (value.producer >= 0) found.push_back(value.producer);
    for (const std::int64_t user : value.users) {
      if (user >= position) break;
      const std::string& kind = graph_.operators[static_cast<std::size_t>(user)].kind;
      if (kind == "aten::append" || kind == "aten::extend" || kind.ends_with('_')) {
        found.push_back(user);
      }
    }
    return found;
  }

  const Graph& graph_;
  std::vector<const Module*> chosen_;
};

}  // namespace

std::vector<std::string> path_prefixes(std::string_view path) {
  std::vector<std::string> prefixes;
  if (path.empty()) return prefixes;
  for (auto dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.', dot + 1)) {
    prefixes.emplace_back(path.substr(0, dot));
  }
  prefixes.emplace_back(path);
  return prefixes;
}

std::vector<std::string> outer_modules(const Graph& graph) { return Chooser(graph).run(); }

}  // namespace pareto::model
