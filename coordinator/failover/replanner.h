// Plans again over the devices that are left, from what was known before one was lost.
//
//   stored profiles + probed links ──make──▶ Replanner ──without {pi-2}──▶ Plan
#pragma once

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/results/store.h"
#include "core/base/error.h"
#include "core/plan/plan.h"
#include "partitioner/model/graph/model.h"
#include "partitioner/planning/cost/evaluate.h"
#include "partitioner/planning/inputs/cost_model.h"
#include "partitioner/planning/outlook/choose.h"

namespace pareto::failover {

/// The devices that may take over, and the links between them.
///
/// Threads: one owner. The model outlives it.
class Replanner {
 public:
  using Progress = std::function<void(const std::string& link)>;

  /// Looks up the stored profiles of the cluster's devices by the plan's settings and batch, and
  /// probes the links between those that have one, over the plan's transports. `stop` ends it with
  /// kClosed. Fails: kNotFound (fewer than two devices were profiled), and as probe_links() and the
  /// store do.
  static Expected<Replanner> make(const model::Model& model, const cluster::Cluster& cluster,
                                  const plan::Plan& plan, results::ResultStore& store,
                                  const std::atomic<bool>& stop, const Progress& progress);

  /// Returns the best plan over the devices that are not lost, down to one: the smallest product of
  /// latency and time between results of the whole predicted front. Its window is open.
  /// Fails: kNotFound (no device that was profiled is left, or none has room for the model).
  Expected<plan::Plan> without(const std::set<std::string>& lost) const;

  /// A plan, and what it is predicted to do.
  struct Forecast {
    plan::Plan plan;
    planning::OperatingPoint point;
  };
  /// Returns the best plan over the devices that are not lost, with its window, if links are as
  /// `links` say. Those have the rows of links(). Fails: as without().
  Expected<Forecast> best(const std::vector<planning::ProbedTransport>& links,
                          planning::Preference preference, const std::set<std::string>& lost) const;
  /// Predicts a plan with its window over such links. Fails: kNotFound (a device or a cut that is
  /// not known here).
  Expected<Forecast> predict(const plan::Plan& plan,
                             const std::vector<planning::ProbedTransport>& links) const;
  /// Returns the links as they were probed. Rows are those of devices(), the coordinator last.
  const std::vector<planning::ProbedTransport>& links() const { return links_; }
  std::vector<std::string> devices() const;

  /// Returns the names of devices that cannot take over, because they were not profiled.
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  Replanner(const model::Model& model, plan::Plan blank)
      : model_(&model), blank_(std::move(blank)) {}

  /// The devices that are not lost, and the links between them.
  struct Left {
    std::vector<planning::DeviceFacts> devices;
    std::vector<planning::ProbedTransport> links;
  };
  /// Returns the profiled devices without those that are lost, and the links between them. Fails:
  /// kNotFound (none is left).
  Expected<Left> left(const std::vector<planning::ProbedTransport>& links,
                      const std::set<std::string>& lost) const;

  const model::Model* model_;
  plan::Plan blank_;  ///< all that the plans have in common
  planning::SplitChoice cuts_;
  std::vector<planning::DeviceFacts> devices_;
  std::vector<planning::ProbedTransport>
      links_;  ///< rows in the order of devices_, the coordinator last
  std::vector<std::string> unknown_;
};

}  // namespace pareto::failover
