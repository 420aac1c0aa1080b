// Converts what enters and leaves a shard between our values and LibTorch's. It includes LibTorch:
// include it only in sources of runtime and partitioner/model/emit.
#pragma once

#include <torch/script.h>

#include <vector>

#include "core/base/error.h"
#include "core/plan/shard.h"

namespace pareto::runtime {

/// The inputs and outputs of a shard's "run", and the device they are on.
///
/// Threads: any one at a time for const members. Members throw c10::Error unless they say
/// otherwise.
class ShardBoundary {
 public:
  /// Needs a `module` whose "run" takes what shard.inputs lists.
  ShardBoundary(const torch::jit::Module& module, const plan::Shard& shard, c10::Device device);

  /// Returns values as arguments of "run", on the device. They share bytes with `values` unless the
  /// graph writes to its arguments. Throws nothing.
  /// Fails: kInvalidArgument (number, type, dtype or rank).
  Expected<std::vector<c10::IValue>> to_arguments(const std::vector<Value>& values) const;
  /// Returns random values for the inputs at a batch; equal seeds give equal values.
  Expected<std::vector<Value>> example_values(std::int64_t batch, std::uint64_t seed) const;
  /// Returns the results of "run" as values in main memory, in the manifest's dtypes. Results that
  /// were computed in bf16 are cast back.
  Expected<std::vector<Value>> to_values(const std::vector<c10::IValue>& results) const;
  /// Returns one result, output `index`, in the same way.
  Expected<Value> to_value(std::size_t index, const c10::IValue& result) const;

 private:
  Expected<c10::IValue> to_argument(const Value& value, std::size_t index) const;

  std::vector<plan::BoundaryValue> inputs_;
  std::vector<plan::BoundaryValue> outputs_;
  std::vector<c10::TypePtr> types_;
  std::vector<bool> written_;  ///< true if input i must be a copy, because "run" writes to it
  c10::Device device_;
};

}  // namespace pareto::runtime
