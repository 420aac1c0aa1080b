// The samples of a data set that are looked at, in batches of one size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coordinator/data/data_set.h"
#include "core/base/error.h"
#include "core/tensor/value.h"

namespace pareto::evaluation {

/// Returns `count` samples of `size`, as far from each other as from the ends: folders of classes
/// keep their shares. 0, or more than there are: all.
std::vector<std::int64_t> evenly_spaced(std::int64_t size, std::int64_t count);

struct LabelledBatch {
  std::vector<Value> inputs;  ///< one tensor float32 {batch, …}
  std::vector<std::int64_t>
      labels;  ///< labels of its first samples; the others repeat the last one
};

/// A view of chosen samples in batches.
///
/// Threads: any.
class SampleBatches {
 public:
  /// `samples`: which, at least one. The data set outlives this. batch ≥ 1.
  SampleBatches(const data::DataSet& data, std::vector<std::int64_t> samples, std::int64_t batch)
      : data_(data), samples_(std::move(samples)), batch_(static_cast<std::size_t>(batch)) {}

  /// Returns the number of batches.
  std::size_t count() const { return (samples_.size() + batch_ - 1) / batch_; }
  std::int64_t batch() const { return static_cast<std::int64_t>(batch_); }
  std::size_t samples() const { return samples_.size(); }
  /// Reads batch `number`, 0 to count() − 1. The last one is filled up with its last sample: every
  /// batch has the same size. Fails: as make_batch() does.
  Expected<LabelledBatch> read(std::size_t number) const;

 private:
  const data::DataSet& data_;
  const std::vector<std::int64_t> samples_;
  const std::size_t batch_;
};

}  // namespace pareto::evaluation
