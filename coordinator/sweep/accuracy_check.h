// Accuracy of a sweep's plans on a data set, and the plans that it puts out.
//
//   a trial's deployment ──samples──▶ answers ──next to the uncut model's──▶ TrialRecord::accuracy
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/data/data_set.h"
#include "coordinator/evaluation/answers.h"
#include "coordinator/evaluation/evaluate.h"
#include "coordinator/results/record.h"
#include "coordinator/sweep/sweep.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"

namespace pareto::sweep {

/// Returns whether a plan may change a value on its way, by its codecs and its precision. A device
/// may keep fp32 all the same.
bool may_lose(const plan::Plan& plan);
/// Returns whether a deployed plan changes no value on its way: no codec that loses something, and
/// no stage in bf16. Its answers are the uncut model's, but for the rounding of its engines.
bool is_lossless(const cluster::Deployment& deployment, const plan::Plan& plan);

/// Returns a plan without all that accuracy does not depend on: transports and window.
plan::Plan computed_part(plan::Plan plan);

/// A data set, the uncut model's answers to it, and the least accuracy.
///
/// Threads: one owner.
class AccuracyCheck {
 public:
  /// Opens the data set. The model outlives this. Fails: as classifier_of(), open_data_set() and
  /// read_preprocessing() do.
  static Expected<std::unique_ptr<AccuracyCheck>> open(const model::Model& model,
                                                       const AccuracyOptions& options);

  /// Sets the accuracy of a trial that is deployed. If it is below the least accuracy, the trial is
  /// refused: `status` and `failure` say so. A lossless plan is not run, and one that another trial
  /// ran over another transport or network has that one's figures. `say`: called with what is done.
  /// Fails: as evaluate_uncut() and evaluate_pipeline().
  Expected<> judge(results::TrialRecord& trial, const std::vector<results::TrialRecord>& others,
                   cluster::Deployment& deployment, std::chrono::milliseconds timeout,
                   const std::function<void(const std::string&)>& say);

  /// Gives a trial that loses nothing the accuracy of the uncut model. Fails: as evaluate_uncut().
  Expected<> take_uncut(results::TrialRecord& trial,
                        const std::function<void(const std::string&)>& say);

 private:
  AccuracyCheck(const model::Model& model, AccuracyOptions options,
                evaluation::Classifier classifier, std::unique_ptr<data::DataSet> data);
  evaluation::SampleBatches batches_of(std::int64_t batch) const;
  /// Returns the uncut model's answers in batches of that size, which it is run for once.
  Expected<const std::vector<evaluation::Answer>*> uncut(
      std::int64_t batch, const std::function<void(const std::string&)>& say);
  void refuse_if_below(results::TrialRecord& trial) const;

  const model::Model& model_;
  const AccuracyOptions options_;
  const evaluation::Classifier classifier_;
  const std::unique_ptr<data::DataSet> data_;
  const std::vector<std::int64_t> samples_;
  cluster::ModelWorkload workload_;
  std::map<std::int64_t, std::vector<evaluation::Answer>> uncut_;  ///< answers, by batch
};

}  // namespace pareto::sweep
