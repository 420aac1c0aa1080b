// Follows a value through a graph, to what may be written to. It includes LibTorch: include it only
// in sources of runtime.
#pragma once

#include <torch/script.h>

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/torch/compat.h"

namespace pareto::runtime {

/// Returns whether a graph may write in place to a tensor that one of `roots` is, holds, or has as
/// an attribute of its own. It takes no schema's word that a result is new, as AliasDb does: in
/// eval mode dropout returns what it was given. A call of a function with such a value is a write.
bool may_write_to(torch::jit::Graph& graph, const std::vector<const torch::jit::Value*>& roots);

/// The values of a graph in groups: two of them share memory only if they are in one group. It
/// takes no schema's word either. It looks at each operator once, for however many values.
class MemoryGroups {
 public:
  explicit MemoryGroups(torch::jit::Graph& graph);

  /// Returns the number of a value's group.
  std::size_t of(const torch::jit::Value* value);
  /// Returns the groups that a node may write to, without those inside its blocks.
  std::set<std::size_t> written_by(const torch::jit::Node* node);

 private:
  void unite(const torch::jit::Value* one, const torch::jit::Value* other);
  void unite_all(const torch::jit::Node* node);
  void follow(const torch::jit::Node* node);

  /// Each group has here one that it became a part of, or itself.
  std::vector<std::size_t> parents_;
  std::unordered_map<const torch::jit::Value*, std::size_t> numbers_;
  /// The first read of each.
  std::unordered_map<std::string, const torch::jit::Value*> attributes_;
};

}  // namespace pareto::runtime
