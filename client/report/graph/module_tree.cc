#include "client/report/graph/module_tree.h"

#include <algorithm>

#include "core/base/text.h"

namespace pareto::report::graph {
namespace {

/// Hostile names may have as many parts as a file has bytes.
constexpr std::size_t kMostParts = 32;

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < path.size() && parts.size() < kMostParts;) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string joined(const std::vector<std::string>& parts, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) text += (i > begin ? "." : "") + parts[i];
  return text;
}

/// Adds the clusters of leaves begin … end-1, which have their first `common` parts in common.
class Clusters {
 public:
  Clusters(const std::vector<ModuleLeaf>& leaves, int depth) : leaves_(leaves), most_(depth) {}

  std::vector<ModuleCluster> all() {
    add(0, leaves_.size(), 0, 0, 0);
    return std::move(clusters_);
  }

 private:
  /// Parts of a leaf that may name clusters: a module that is a leaf stands in those around it.
  std::size_t parts(std::size_t leaf) const {
    const std::size_t count = leaves_[leaf].path.size();
    return leaves_[leaf].is_module ? count - 1 : count;
  }
  bool same(std::size_t a, std::size_t b, std::size_t part) const {
    return parts(a) > part && parts(b) > part && leaves_[a].path[part] == leaves_[b].path[part];
  }

  void add(std::size_t begin, std::size_t end, std::size_t common, std::size_t parent, int depth) {
    if (depth == most_) return;
    for (std::size_t first = begin; first < end;) {
      std::size_t last = first + 1;
      while (last < end && same(first, last, common)) ++last;
      // Names that all of them have are one title.
      std::size_t named = common;
      while (last - first > 1 && same(first, last - 1, named) && all_same(first, last, named)) {
        ++named;
      }
      if (named > common) {
        clusters_.push_back({.title = joined(leaves_[first].path, common, named),
                             .path = joined(leaves_[first].path, 0, named),
                             .parent = parent,
                             .depth = depth,
                             .begin = first,
                             .end = last});
        add(first, last, named, clusters_.size(), depth + 1);
      }
      first = last;
    }
  }
  bool all_same(std::size_t begin, std::size_t end, std::size_t part) const {
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (!same(begin, i, part)) return false;
    }
    return true;
  }

  const std::vector<ModuleLeaf>& leaves_;
  int most_;
  std::vector<ModuleCluster> clusters_;
};

}  // namespace

std::string ModuleLeaf::module_path() const { return joined(path, 0, path.size()); }

std::vector<ModuleLeaf> operator_leaves(const model::Graph& graph) {
  std::vector<ModuleLeaf> leaves;
  for (std::size_t i = 0; i < graph.operators.size(); ++i) {
    leaves.push_back(
        {.path = parts_of(graph.operators[i].scope), .operators = {static_cast<std::int64_t>(i)}});
  }
  return leaves;
}

std::vector<ModuleLeaf> module_leaves(const model::Graph& graph, int depth,
                                      const std::vector<std::size_t>& stages) {
  const auto most = static_cast<std::size_t>(depth);
  std::vector<ModuleLeaf> leaves;
  for (ModuleLeaf& leaf : operator_leaves(graph)) {
    leaf.is_module = leaf.path.size() >= most;
    if (leaf.is_module) leaf.path.resize(most);
    const auto stage = [&](const ModuleLeaf& one) {
      return stages[static_cast<std::size_t>(one.operators.front())];
    };
    if (leaf.is_module && !leaves.empty() && leaves.back().is_module &&
        leaves.back().path == leaf.path && stage(leaves.back()) == stage(leaf)) {
      leaves.back().operators.push_back(leaf.operators.front());
    } else {
      leaves.push_back(std::move(leaf));
    }
  }
  return leaves;
}

std::vector<ModuleCluster> clusters_of(const std::vector<ModuleLeaf>& leaves, int depth) {
  return Clusters(leaves, depth).all();
}

}  // namespace pareto::report::graph
