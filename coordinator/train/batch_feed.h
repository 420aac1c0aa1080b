// Batches that are read while the one before is trained on.
#pragma once

#include <cstdint>
#include <future>
#include <vector>

#include "coordinator/data/data_set.h"
#include "core/base/clock.h"
#include "core/base/error.h"

namespace pareto::train {

/// Reads one batch at a time on a thread of its own.
///
/// Threads: one owner. The data set outlives it, and the clock too.
class BatchFeed {
 public:
  BatchFeed(const data::DataSet& data, const Clock& clock) : data_(data), clock_(clock) {}

  /// Begins to read these samples. Between two calls stands one of take().
  void start(std::vector<std::int64_t> indices);
  /// Waits for the batch that start() began. Fails: as make_batch().
  Expected<data::Batch> take();
  /// Returns how long the last take() waited, in seconds.
  double waited_s() const { return waited_s_; }

 private:
  const data::DataSet& data_;
  const Clock& clock_;
  std::future<Expected<data::Batch>> reading_;
  double waited_s_ = 0;
};

}  // namespace pareto::train
