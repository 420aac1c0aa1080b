// Outputs of a classifier next to the labels.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/tensor.h"
#include "core/tensor/value.h"

namespace pareto::train {

/// Sums over samples.
struct Scores {
  std::int64_t samples = 0;
  std::int64_t correct = 0;  ///< samples whose largest output is their label
  double cross_entropy = 0;  ///< of the outputs as logits, in nats
};

/// Adds the scores of a batch. The first output is a tensor {N, classes} of a floating type, and
/// `labels` a tensor int64 {N}. Fails: kInvalidArgument (other outputs, with their shape; a label
/// outside the classes).
Expected<> add_scores(const std::vector<Value>& outputs, const Value& labels, Scores& scores);

/// Returns whether a tensor of a floating type holds a NaN.
bool holds_nan(const Tensor& tensor);

}  // namespace pareto::train
