// Accuracy of predicted plans: those of a front answer a data set, and codecs that cost too much of
// it are left out.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/command.h"
#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/shard_pool.h"
#include "coordinator/cluster/transport_set.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/results/record.h"
#include "coordinator/sweep/accuracy_check.h"
#include "core/base/error.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/planning/inputs/probes.h"
#include "partitioner/planning/outlook/outlook.h"

namespace pareto::client::commands {

/// A data set that plans of a front answer, and the codecs that were left out.
///
/// Threads: one owner.
class PlanAccuracy {
 public:
  /// Opens the data set. Model and cluster outlive this. Fails: as AccuracyCheck::open(), naming
  /// the flag.
  static Expected<std::unique_ptr<PlanAccuracy>> open(const model::Model& model,
                                                      const cluster::Cluster& cluster,
                                                      const sweep::AccuracyOptions& options);

  /// Returns the accuracy of each plan of a front. Plans that may lose something are deployed, and
  /// run once each. If one is below the least accuracy, its lossy codecs are taken out of `codecs`,
  /// and nothing is returned: the front has to be searched again. Fails: as Deployment::open() and
  /// AccuracyCheck::judge(); kExhausted (the plan has no lossy codec, or there is no other one).
  Expected<std::optional<std::vector<results::AccuracyFigures>>> judge(
      Context& context, const std::vector<planning::PlannedPoint>& front,
      planning::ProbedCodecs& codecs);

  /// Returns a sentence for each plan whose codecs were left out.
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  PlanAccuracy(const model::Model& model, const cluster::Cluster& cluster,
               std::unique_ptr<sweep::AccuracyCheck> check);
  Expected<> judge_one(Context& context, results::TrialRecord& trial);
  Expected<> leave_out(const results::TrialRecord& trial, planning::ProbedCodecs& codecs);

  const cluster::Cluster& cluster_;
  cluster::ModelWorkload workload_;
  cluster::TransportSet transports_;
  cluster::ShardPool pool_;
  std::unique_ptr<sweep::AccuracyCheck> check_;
  std::vector<results::TrialRecord> judged_;
  std::vector<std::string> left_out_;
};

}  // namespace pareto::client::commands
