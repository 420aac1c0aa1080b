// The one form that every model takes here: an inlined TorchScript graph without `self`, its
// weights as extra inputs. Sees LibTorch: to be included only by sources of
// partitioner/model and their tests.
#pragma once

#include <torch/script.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/base/error.h"

namespace pareto::model {

struct FlatWeight {
  std::string name;  ///< name as in a state_dict
  torch::Tensor tensor;
  bool is_parameter = true;  ///< otherwise it is a buffer
  bool is_written = false;   ///< whether the graph writes it in place
  bool in_state_dict =
      true;  ///< otherwise it is a constant of the code, or a tensor of a list that is an attribute
  bool is_trainable = false;  ///< a parameter that requires a gradient

  /// Returns the tensor for a run: if it is written, in memory of its own.
  torch::Tensor to_run() const { return is_written ? tensor.clone() : tensor; }
};

/// graph inputs: first the model's own, then one a weight, in the order of `weights`. Node scopes
/// hold module paths ("features.5.conv.0.0") as a Scope chain whose innermost name is the whole
/// dotted path.
struct Flat {
  std::string model;
  std::shared_ptr<torch::jit::Graph> graph;
  std::size_t model_inputs = 0;
  std::vector<FlatWeight> weights;
  bool from_file = false;
  /// Paths of a file's modules that are dropouts.
  std::unordered_set<std::string> dropouts{};
  /// A file's module as LibTorch loaded it, which Model::run_whole runs.
  std::optional<torch::jit::Module> original = std::nullopt;
};

}  // namespace pareto::model
