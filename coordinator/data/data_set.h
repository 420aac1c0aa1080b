// Samples with labels: what models are trained and evaluated on.
//
//   pictures | CIFAR-10 | .npy files | made up ──open──▶ DataSet ──sample i──▶ input, label
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/tensor.h"
#include "core/tensor/value.h"

namespace pareto::data {

/// One sample, without a batch dimension.
struct Sample {
  Tensor input;            ///< float32, as the model takes it: {3, 224, 224}
  std::int64_t label = 0;  ///< 0 to classes − 1
};

/// Samples in an order that never changes: equal files give equal samples, bit for bit.
///
/// Threads: any.
class DataSet {
 public:
  virtual ~DataSet() = default;
  /// Returns what it is, for people: "cifar10:/data/cifar (train)".
  virtual std::string title() const = 0;
  /// Returns the number of samples, at least 1.
  virtual std::int64_t size() const = 0;
  /// Returns the number of classes, at least 1.
  virtual std::int64_t classes() const = 0;
  /// Returns a name for each class; empty if they have none.
  virtual const std::vector<std::string>& class_names() const = 0;
  /// Reads sample `index`, 0 to size() − 1. Fails: kCorrupt (a file that is no picture, with its
  /// name), kNotFound (a file that is gone), kInvalidArgument (a label outside the classes).
  virtual Expected<Sample> sample(std::int64_t index) const = 0;
};

/// Checks that a label means the same in both. Data without names of classes fit any other. Fails:
/// kInvalidArgument with the first class that differs.
Expected<> check_same_classes(const DataSet& one, const DataSet& other);

/// Samples of one batch, in order.
struct Batch {
  std::vector<Value> inputs;  ///< one tensor float32 {N, …}
  Value labels;               ///< a tensor int64 {N}
  std::int64_t samples = 0;   ///< N
};

/// Reads samples and puts them together. Fails: as DataSet::sample(); kInvalidArgument (samples of
/// different shapes, both named; no index).
Expected<Batch> make_batch(const DataSet& data, const std::vector<std::int64_t>& indices);

}  // namespace pareto::data
