// Local daemons, each with a core of its own where there are enough, and pipelines over them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coordinator/cluster/cluster.h"
#include "coordinator/cluster/deployment.h"
#include "coordinator/cluster/workload.h"
#include "coordinator/load/load.h"
#include "core/base/error.h"
#include "partitioner/model/zoo/model_builder.h"

namespace pareto::bench {

/// Daemons that run, and pipelines that are deployed over them.
///
/// Threads: one owner.
class Pipelines {
 public:
  static Expected<std::unique_ptr<Pipelines>> start(const std::string& model,
                                                    const std::string& transport, int daemons = 2);
  /// Makes pipelines over devices that are there already.
  static Expected<std::unique_ptr<Pipelines>> over(cluster::Cluster cluster,
                                                   const std::string& model,
                                                   const std::string& transport);

  const model::Model& model() const { return model_; }
  const cluster::Cluster& cluster() const { return cluster_; }
  /// Returns the request that is sent: noise.
  const Value& request() const { return request_; }
  /// Deploys the model cut at `positions` over as many daemons as it has stages, ready; it must not
  /// outlive this.
  Expected<std::unique_ptr<cluster::Deployment>> deploy(
      const std::vector<std::int64_t>& positions, const cluster::DeploymentOptions& options = {});
  /// Sends the request again and again through a deployment, with `window` requests in flight.
  Expected<load::LoadResult> load(cluster::Deployment& deployment, int window,
                                  Nanoseconds duration);
  /// Runs the same, `requests` times.
  Expected<load::LoadResult> load(cluster::Deployment& deployment, int window, int requests);

 private:
  Pipelines(model::Model model, cluster::Cluster cluster)
      : model_(std::move(model)),
        cluster_(std::move(cluster)),
        workload_(model_),
        pool_(workload_) {}

  model::Model model_;
  cluster::Cluster cluster_;
  cluster::ModelWorkload workload_;
  cluster::ShardPool pool_;
  cluster::TransportSet transports_;
  std::string transport_;
  Value request_;
};

/// Returns the one-tensor split point `how` likes best: the smallest value it returns.
template <typename How>
const model::SplitPoint* best_split_point(const model::Model& model, How how) {
  const model::SplitPoint* best = nullptr;
  for (const auto& point : model.split_points()) {
    if (!point.legal || point.live.size() != 1) continue;
    if (best == nullptr || how(point) < how(*best)) best = &point;
  }
  return best;
}

}  // namespace pareto::bench
