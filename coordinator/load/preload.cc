#include "coordinator/load/preload.h"

#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include "coordinator/cluster/daemon_client.h"
#include "coordinator/cluster/deployment.h"
#include "core/base/bounded_queue.h"

namespace pareto::load {
namespace {

struct Work {
  plan::ShardOperators operators;
  control::ShardSettings settings;
  auto operator<=>(const Work&) const = default;
};

std::map<cluster::DaemonClient*, std::vector<Work>> work_of(const std::vector<plan::Plan>& plans,
                                                            const cluster::Cluster& cluster) {
  std::map<cluster::DaemonClient*, std::vector<Work>> work;
  std::set<std::pair<cluster::DaemonClient*, Work>> seen;
  for (const plan::Plan& plan : plans) {
    for (std::size_t i = 0; i < plan.stages.size(); ++i) {
      const auto device = cluster.find(plan.stages[i].device);
      if (!device) continue;
      const Work item{plan.operators_of(i), cluster::shard_settings(plan, i)};
      if (seen.insert({*device, item}).second) work[*device].push_back(item);
    }
  }
  return work;
}

}  // namespace

std::map<std::string, Error> preload_shards(
    const std::vector<plan::Plan>& plans, const cluster::Cluster& cluster, cluster::ShardPool& pool,
    const std::atomic<bool>& stop,
    const std::function<void(std::size_t, std::size_t)>& on_progress) {
  const auto work = work_of(plans, cluster);
  std::size_t total = 0;
  for (const auto& [device, items] : work) total += items.size();

  // One word for each shard loaded or given up, so that progress is told from the calling thread
  // alone.
  BoundedQueue<std::size_t> finished(total + 1);
  std::mutex mutex;
  std::map<std::string, Error> errors;
  std::vector<std::jthread> threads;
  for (const auto& [device, items] : work) {
    threads.emplace_back([&, client = device, list = &items] {
      std::size_t left = list->size();
      for (const Work& item : *list) {
        if (stop) break;
        auto lease = pool.acquire(*client, item.operators, item.settings,
                                  cluster::ShardPool::WhenFull::kRefuse);
        if (!lease && lease.error().code != ErrorCode::kInvalidArgument) {
          const std::lock_guard lock(mutex);
          errors.emplace(client->config().name, std::move(lease).error());
          break;
        }
        --left;
        static_cast<void>(finished.push(1));
      }
      if (left > 0) static_cast<void>(finished.push(left));
    });
  }
  for (std::size_t done = 0; done < total;) {
    on_progress(done, total);
    const auto count = finished.pop();
    if (!count) break;
    done += *count;
  }
  threads.clear();
  return errors;
}

}  // namespace pareto::load
