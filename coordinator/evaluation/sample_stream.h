// Samples of a data set as requests of a stream, and its results as answers.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "coordinator/cluster/workload.h"
#include "coordinator/evaluation/answers.h"
#include "coordinator/evaluation/evaluate.h"
#include "coordinator/evaluation/sample_batches.h"
#include "coordinator/load/request_stream.h"
#include "core/base/error.h"

namespace pareto::evaluation {

/// Gives the batches in their order, a request each, and takes their results in the same order. The
/// first failure ends it: no more requests are given.
///
/// Threads: as RequestSource and RequestSink; take_answers() after the stream has ended.
class SampleStream final : public load::RequestSource, public load::RequestSink {
 public:
  /// All three outlive this.
  SampleStream(const SampleBatches& batches, cluster::ModelWorkload& workload,
               const OnAnswered& on_answered)
      : batches_(batches), workload_(workload), on_answered_(on_answered) {}

  std::optional<load::StreamRequest> next() override;
  void cancel() override { ended_ = true; }
  void done(load::StreamResult result) override;

  /// Returns an answer for each sample. Fails: with the first failure.
  Expected<std::vector<Answer>> take_answers();

 private:
  Expected<std::vector<Value>> read_next();
  Expected<std::vector<Answer>> read(const load::StreamResult& result,
                                     const std::vector<std::int64_t>& labels);
  std::vector<std::int64_t> take_labels();

  const SampleBatches& batches_;
  cluster::ModelWorkload& workload_;
  const OnAnswered& on_answered_;
  std::size_t next_ = 0;
  std::atomic<bool> ended_{false};
  std::mutex mutex_;
  std::deque<std::vector<std::int64_t>> labels_;  ///< labels of the requests without a result
  std::vector<Answer> answers_;
  std::optional<Error> failure_;
};

}  // namespace pareto::evaluation
