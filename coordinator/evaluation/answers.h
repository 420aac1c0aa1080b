// What a model says of samples, class by class, against their labels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/value.h"
#include "partitioner/model/graph/model.h"

namespace pareto::evaluation {

/// A model's answer to one sample.
struct Answer {
  /// The class with the largest score, the first of equals; −1 if a score is NaN.
  std::int32_t best = -1;
  /// Place of the label among the classes, by score: 0 is the best, the first of equals before the
  /// others. It is the number of classes if a score is NaN.
  std::int32_t place = 0;
  std::uint64_t bits = 0;  ///< hash of the scores: equal ones are equal bit for bit
};

/// A model that tells classes apart.
struct Classifier {
  Shape input_shape;         ///< a sample's, without the batch
  std::int64_t classes = 0;  ///< scores of a sample
};
/// Returns what a model takes and gives, if it tells classes apart: one float32 tensor {N, …} goes
/// in, and the first tensor that comes out is float32 {N, classes}. Fails: kInvalidArgument saying
/// what it has in place of that.
Expected<Classifier> classifier_of(const model::Model& model);

/// Returns the answers to the first samples of a batch, as many as there are labels. Fails:
/// kInvalidArgument (the first tensor is not float32 {N, classes}, or has fewer rows, or a label is
/// outside of them).
Expected<std::vector<Answer>> answers_of(const std::vector<Value>& outputs,
                                         std::span<const std::int64_t> labels);

}  // namespace pareto::evaluation
