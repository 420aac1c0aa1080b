// What anybody has without this program: the model as a frozen TorchScript module, run by LibTorch.
#pragma once

#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/value.h"
#include "partitioner/model/graph/model.h"

namespace pareto::bench {

/// A frozen module and its inputs.
///
/// Threads: one owner.
class FrozenModule {
 public:
  /// torch::jit::freeze of the whole model, warmed up with LibTorch's own executor settings, on one
  /// thread.
  static Expected<FrozenModule> create(const model::Model& model, const std::vector<Value>& inputs);
  FrozenModule(FrozenModule&&) noexcept;
  FrozenModule& operator=(FrozenModule&&) noexcept;
  ~FrozenModule();
  /// One forward over the inputs it was created with.
  Expected<> run();

 private:
  struct Impl;
  explicit FrozenModule(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pareto::bench
