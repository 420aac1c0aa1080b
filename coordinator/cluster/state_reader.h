// Puts the tensors of a training's state together, as a device streams them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/error.h"
#include "core/plan/training_values.h"
#include "proto/control.pb.h"

namespace pareto::cluster {

/// The tensors of a training's state that have come so far.
///
/// Threads: one.
class StateReader {
 public:
  explicit StateReader(std::uint64_t most_bytes) : left_bytes_(most_bytes) {}

  /// Appends a chunk to the tensor that it continues or begins. Fails: kCorrupt (a chunk that
  /// belongs to no tensor, an impossible tensor), kExhausted (more than there may be).
  Expected<> take(const control::v1::StateChunk& chunk);
  /// Returns all tensors. Fails: kCorrupt (the last one is not complete).
  Expected<std::vector<plan::StateTensor>> finish() &&;

 private:
  Expected<> begin(const control::v1::StateChunk& chunk);
  bool is_complete() const { return !tensor_ || filled_ == tensor_->tensor.size_bytes(); }
  void keep();

  std::uint64_t left_bytes_;
  std::optional<plan::StateTensor> tensor_;  ///< one that is not complete
  std::uint64_t filled_ = 0;
  std::vector<plan::StateTensor> done_;
};

}  // namespace pareto::cluster
