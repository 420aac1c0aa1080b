// What enters and leaves a shard, between our values and LibTorch's. Sees LibTorch: for core/runtime sources only.
#pragma once

#include <torch/script.h>

#include <vector>

#include "core/base/error.h"
#include "core/plan/shard.h"

namespace pareto::runtime {

/// Threads: const members from any one at a time. May throw c10::Error where not said otherwise.
class ShardBoundary {
 public:
  /// module: its "run" takes what shard.inputs lists.
  ShardBoundary(const torch::jit::Module& module, const plan::Shard& shard, c10::Device device);

  /// Values as arguments of "run", on the device. They share bytes with `values`, unless the graph writes to its arguments. Fails:
  /// kInvalidArgument (number, type, dtype or rank). Throws nothing.
  Expected<std::vector<c10::IValue>> to_arguments(const std::vector<Value>& values) const;
  /// Seeded values of the inputs' specs at a batch.
  Expected<std::vector<Value>> example_values(std::int64_t batch, std::uint64_t seed) const;
  /// Results of "run" as values in main memory, in the dtypes of the manifest: what was computed in bf16 is cast back.
  Expected<std::vector<Value>> to_values(const std::vector<c10::IValue>& results) const;
  /// One of them.
  Expected<Value> to_value(std::size_t index, const c10::IValue& result) const;

 private:
  Expected<c10::IValue> to_argument(const Value& value, std::size_t index) const;

  std::vector<plan::BoundaryValue> inputs_;
  std::vector<plan::BoundaryValue> outputs_;
  std::vector<c10::TypePtr> types_;
  std::vector<bool> written_;  ///< by input: it must be a copy
  c10::Device device_;
};

}  // namespace pareto::runtime
