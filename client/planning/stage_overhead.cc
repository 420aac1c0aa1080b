#include "client/planning/stage_overhead.h"

#include <algorithm>
#include <cmath>

#include "client/cluster/deployment.h"
#include "client/experiment/load.h"
#include "client/experiment/statistics.h"

namespace pareto::client {
namespace {

constexpr int kRequests = 40;

}  // namespace

Expected<Nanoseconds> measure_overhead(const Plan& plan, Nanoseconds predicted,
                                       const Value& request, const Cluster& cluster,
                                       ShardPool& pool, TransportSet& transports) {
  PARETO_ASSIGN(const auto deployment, Deployment::open(plan, cluster, pool, transports));
  Load load(deployment->source(), deployment->sink(), deployment->pipeline());
  LoadOptions options;
  const int discarded = warm_up_requests(1);
  options.requests = discarded + kRequests;
  PARETO_ASSIGN(const LoadResult result, load.run(request, options));
  std::vector<double> latencies_ms;
  for (std::size_t i = static_cast<std::size_t>(discarded); i < result.samples.size(); ++i) {
    latencies_ms.push_back(to_milliseconds(result.samples[i].latency()));
  }
  const double beyond_ms = median(latencies_ms) - to_milliseconds(predicted);
  const auto stages = static_cast<double>(plan.stages.size());
  return Nanoseconds(std::llround(std::max(beyond_ms, 0.0) / stages * 1e6));
}

}  // namespace pareto::client
