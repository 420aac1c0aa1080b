// Operators by the modules that they came from: what becomes one card, and clusters around cards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "partitioner/model/graph/graph.h"

namespace pareto::report::graph {

/// Operators that become one card.
struct ModuleLeaf {
  std::vector<std::string> path;        ///< parts of its module path: {"layer1", "0"}
  std::vector<std::int64_t> operators;  ///< positions in the model, which follow each other
  bool is_module = false;               ///< a module with all in it, else one operator

  std::string module_path() const;  ///< "layer1.0"
};

/// Returns a leaf for each operator.
std::vector<ModuleLeaf> operator_leaves(const model::Graph& graph);
/// Returns a leaf for each module of that depth, and for each operator above it. Operators of a
/// module that do not follow each other, or lie in several stages, are several leaves: so leaves
/// need only what comes before them. `stages`: by operator.
std::vector<ModuleLeaf> module_leaves(const model::Graph& graph, int depth,
                                      const std::vector<std::size_t>& stages);

/// Leaves begin … end-1, which one module holds.
struct ModuleCluster {
  std::string title;  ///< "layer1", or "0" in it; "features.0" if it is all that features has there
  std::string path;
  std::size_t parent = 0;  ///< number of the one around it, counted from 1; 0: none
  int depth = 0;           ///< clusters around it
  std::size_t begin = 0;
  std::size_t end = 0;
};

inline constexpr int kAllClusters = std::numeric_limits<int>::max();

/// Returns clusters of leaves that follow each other, outer ones first, down to a depth. A leaf by
/// itself has none.
std::vector<ModuleCluster> clusters_of(const std::vector<ModuleLeaf>& leaves, int depth);

}  // namespace pareto::report::graph
