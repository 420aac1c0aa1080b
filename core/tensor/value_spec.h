// Types and shapes of values that will cross a boundary, known before any value exists. The batch
// dimension is symbolic.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/value.h"

namespace pareto {

/// One dimension as a function of the batch size: constant + per_sample × batch.
struct SymbolicDim {
  std::int64_t constant = 0;
  std::int64_t per_sample = 0;
  std::int64_t at(std::int64_t batch) const { return constant + per_sample * batch; }
  bool operator==(const SymbolicDim&) const = default;
};

struct TensorSpec {
  DType dtype = DType::kFloat32;
  std::vector<SymbolicDim> dims;

  Shape shape(std::int64_t batch) const;
  /// Fails as element_count does.
  Expected<std::uint64_t> size_bytes(std::int64_t batch) const;
  bool operator==(const TensorSpec&) const = default;
};

/// Smallest and largest element of a tensor of integers or bools (false is 0, true is 1).
struct IntegerRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool operator==(const IntegerRange&) const = default;
};
/// Elements that the type can hold; none of types that are neither integers nor bools.
std::optional<IntegerRange> limits_of(DType dtype);

/// The most elements that a ValueSpec keeps of a tensor.
inline constexpr std::size_t kMostSampled = 1024;

/// The shape of a Value: the same tree, with a TensorSpec in place of every tensor. All other
/// leaves have the value seen when the model was examined. An int on a boundary is most often a
/// size, and stays what it was.
struct ValueSpec {
  enum class Kind { kTensor, kLeaf, kList, kTuple, kDict };
  Kind kind = Kind::kLeaf;
  TensorSpec tensor;  ///< kTensor
  /// The range that example elements of a kTensor of integers or bools are drawn from. No value
  /// means that they are 0, or true.
  std::optional<IntegerRange> range{};
  /// kTensor of integers or bools: elements that were seen, row by row, at most kMostSampled.
  /// Example tensors repeat them. Empty: they are drawn from the range.
  std::vector<std::int64_t> sample{};
  Value leaf;  ///< kLeaf, and never a Tensor or container
  /// KLeaf of an int: what each sample of a batch adds to it; `leaf` is what is there without.
  std::int64_t per_sample = 0;
  std::vector<Value> keys;       ///< kDict: the keys, in the order of items
  std::vector<ValueSpec> items;  ///< kList, kTuple, kDict

  /// Returns the bytes of all its tensors at a batch.
  Expected<std::uint64_t> size_bytes(std::int64_t batch) const;
  /// Returns "float32[Bx32x112x112]", "List[float32[B], …]", "int".
  std::string describe() const;
};

/// Returns every tensor of the tree, depth first.
std::vector<TensorSpec> tensors_of(const ValueSpec& spec);

/// Returns the same structure of specs seen at two batch sizes, joined: dimensions that differ
/// become linear in the batch. Fails with kInvalidArgument where the structure differs or a
/// dimension is not an integer multiple.
Expected<ValueSpec> join_specs(const Value& at_first, std::int64_t first_batch,
                               const Value& at_second, std::int64_t second_batch);
/// Checks that a value that was seen at another batch is what such a spec says of it. Fails:
/// kInvalidArgument saying what differs.
Expected<> check_spec(const ValueSpec& spec, const Value& seen, std::int64_t batch);
/// Returns the spec of one seen value, nothing symbolic.
ValueSpec spec_of(const Value& value);

/// Makes a value of that spec. Floating tensors are drawn from a seeded normal distribution.
/// Integers and bools repeat their sample; without one they are drawn evenly from their range, in
/// descending order from its highest one. Without a range bools are true and integers zero.
Expected<Value> make_example(const ValueSpec& spec, std::int64_t batch, std::uint64_t seed);

/// Converts a spec to JSON and back. Foreign JSON is checked (depth, counts, known kinds). Format:
/// core/plan/FORMAT.md.
nlohmann::json to_json(const ValueSpec& spec);
Expected<ValueSpec> value_spec_from_json(const nlohmann::json& json);

}  // namespace pareto
