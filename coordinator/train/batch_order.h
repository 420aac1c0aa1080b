// The order in which samples are trained on: a function of seed, epoch and place.
//
//   samples ──shuffled by (seed, epoch)──▶ batches ──split──▶ micro-batches
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/error.h"

namespace pareto::train {

struct BatchOptions {
  std::int64_t batch = 32;  ///< samples of a step
  std::uint64_t seed = 0;
  bool shuffle = true;        ///< otherwise the samples' own order
  bool drop_smaller = false;  ///< leaves out the last batch of an epoch if it is smaller
  bool operator==(const BatchOptions&) const = default;
};

/// Batches of one epoch after another. The order is the same on every machine.
///
/// Threads: one owner.
class BatchOrder {
 public:
  /// Makes the order for a number of samples. Fails: kInvalidArgument (no samples, a batch below 1,
  /// or no batch in an epoch).
  static Expected<BatchOrder> create(std::int64_t samples, const BatchOptions& options);

  /// Returns the steps of one epoch, at least 1.
  std::int64_t steps_per_epoch() const { return steps_; }
  /// Returns the samples of batch `step` of an epoch. 0 <= step < steps_per_epoch().
  std::vector<std::int64_t> batch(std::int64_t epoch, std::int64_t step);

 private:
  BatchOrder(std::int64_t samples, const BatchOptions& options, std::int64_t steps)
      : samples_(samples), options_(options), steps_(steps) {}
  void shuffle(std::int64_t epoch);

  const std::int64_t samples_;
  const BatchOptions options_;
  const std::int64_t steps_;
  std::int64_t shuffled_epoch_ = -1;  ///< the epoch whose order `order_` has; −1: none
  std::vector<std::int64_t> order_;
};

/// Returns the samples of each micro-batch of a batch: as equal as possible, larger ones first. A
/// batch of fewer samples than `parts` has one micro-batch a sample.
std::vector<std::int64_t> micro_batch_sizes(std::int64_t samples, std::int64_t parts);

}  // namespace pareto::train
