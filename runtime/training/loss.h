// The loss of the last stage: a shard of its own. It includes LibTorch: include it only in sources
// of runtime.
#pragma once

#include <torch/script.h>

#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/plan/shard.h"
#include "runtime/shard_runner.h"
#include "runtime/torch/compat.h"

namespace pareto::runtime {

/// Takes the model's outputs and the target, and gives one number.
///
/// Threads: one at a time.
class Loss {
 public:
  /// Loads a loss's code from its shard. Fails: as load_module(); kInvalidArgument (it takes no
  /// values).
  static Expected<Loss> load(const plan::Shard& shard, const WeightSource& weights,
                             c10::Device device);

  /// Returns a tensor of one number, which knows its gradient. Throws c10::Error (it refuses the
  /// values), std::runtime_error (another number of values; it gives no scalar).
  at::Tensor compute(const std::vector<c10::IValue>& outputs, const Value& target) const;

 private:
  Loss(std::shared_ptr<torch::jit::Graph> graph, c10::IValue self);

  std::vector<c10::TypePtr> types_;  ///< types of what it takes
  torch::jit::Code code_;
  c10::IValue self_;
};

/// Returns how many rows of a classifier's outputs have their largest number at their label; −1 if
/// these are no outputs of a classifier. May throw c10::Error.
std::int64_t count_correct(const c10::IValue& output, const Value& target);

}  // namespace pareto::runtime
