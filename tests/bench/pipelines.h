// Local daemons, each with a core of its own where there are enough, and pipelines over them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "client/cluster/cluster.h"
#include "client/cluster/deployment.h"
#include "client/cluster/workload.h"
#include "client/experiment/load.h"
#include "core/base/error.h"
#include "partitioner/models/model_builder.h"

namespace pareto::bench {

/// Threads: one owner.
class Pipelines {
 public:
  static Expected<std::unique_ptr<Pipelines>> start(const std::string& model,
                                                    const std::string& transport, int daemons = 2);
  /// Over devices that are there already.
  static Expected<std::unique_ptr<Pipelines>> over(client::Cluster cluster,
                                                   const std::string& model,
                                                   const std::string& transport);

  const partitioner::Model& model() const { return model_; }
  const client::Cluster& cluster() const { return cluster_; }
  /// What is sent: noise.
  const Value& request() const { return request_; }
  /// The model cut at `positions` over as many daemons as it has stages, ready; it must not outlive this.
  Expected<std::unique_ptr<client::Deployment>> deploy(const std::vector<std::int64_t>& positions);
  /// Sends the request again and again through a deployment, with `window` requests in flight.
  Expected<client::LoadResult> load(client::Deployment& deployment, int window,
                                    Nanoseconds duration);
  /// The same, `requests` times.
  Expected<client::LoadResult> load(client::Deployment& deployment, int window, int requests);

 private:
  Pipelines(partitioner::Model model, client::Cluster cluster)
      : model_(std::move(model)),
        cluster_(std::move(cluster)),
        workload_(model_),
        pool_(workload_) {}

  partitioner::Model model_;
  client::Cluster cluster_;
  client::ModelWorkload workload_;
  client::ShardPool pool_;
  client::TransportSet transports_;
  std::string transport_;
  Value request_;
};

/// The one-tensor split point `how` likes best: the smallest value it returns.
template <typename How>
const partitioner::SplitPoint* best_split_point(const partitioner::Model& model, How how) {
  const partitioner::SplitPoint* best = nullptr;
  for (const auto& point : model.split_points()) {
    if (!point.legal || point.live.size() != 1) continue;
    if (best == nullptr || how(point) < how(*best)) best = &point;
  }
  return best;
}

}  // namespace pareto::bench
