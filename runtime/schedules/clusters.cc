#include "runtime/schedules/clusters.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace pareto::schedules {
namespace {

/// The distances of a cluster's last and first operator.
struct Span {
  double low = 0;
  double high = 0;
};

bool overlap(const std::vector<Span>& a, const std::vector<Span>& b) {
  return std::ranges::any_of(a, [&](const Span& one) {
    return std::ranges::any_of(
        b, [&](const Span& other) { return one.low < other.high && other.low < one.high; });
  });
}

void append(std::vector<std::size_t>& cluster, std::vector<std::size_t>& other) {
  const auto middle = static_cast<std::ptrdiff_t>(cluster.size());
  cluster.insert(cluster.end(), other.begin(), other.end());
  std::inplace_merge(cluster.begin(), cluster.begin() + middle, cluster.end());
}

/// Tries merged clusters, each on a worker of its own, without making them.
class Trial {
 public:
  Trial(const WeightedGraph& graph, const Clusters& clusters, double hand_off)
      : graph_(graph),
        hand_off_(hand_off),
        cluster_of_(graph.nodes.size()),
        ends_(graph.nodes.size()) {
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      for (const std::size_t op : clusters[i]) cluster_of_[op] = i;
    }
    free_.resize(clusters.size());
  }

  /// Returns how long they take if cluster `from` is part of cluster `into`.
  double span(std::size_t into, std::size_t from) {
    std::ranges::fill(free_, 0.0);
    double last = 0;
    for (std::size_t op = 0; op < ends_.size(); ++op) {
      const std::size_t worker = cluster_of_[op] == from ? into : cluster_of_[op];
      double start = free_[worker];
      for (const std::size_t before : graph_.nodes[op].after) {
        const std::size_t other = cluster_of_[before] == from ? into : cluster_of_[before];
        start = std::max(start, ends_[before] + (other == worker ? 0 : hand_off_));
      }
      ends_[op] = free_[worker] = start + graph_.nodes[op].cost;
      last = std::max(last, ends_[op]);
    }
    return last;
  }

 private:
  const WeightedGraph& graph_;
  double hand_off_;
  std::vector<std::size_t> cluster_of_;
  std::vector<double> ends_;  ///< the end of each operator
  std::vector<double> free_;  ///< by cluster
};

/// Returns the costs of clusters.
std::vector<double> costs_of(const WeightedGraph& graph, const Clusters& clusters) {
  std::vector<double> costs(clusters.size());
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    for (const std::size_t op : clusters[i]) costs[i] += graph.nodes[op].cost;
  }
  return costs;
}

/// Returns the pairs of clusters that may be worth merging.
std::vector<std::pair<std::size_t, std::size_t>> pairs_of(const std::vector<double>& costs) {
  std::vector<std::size_t> some(costs.size());
  std::iota(some.begin(), some.end(), std::size_t{0});
  const bool are_many = some.size() > kMostPaired;
  if (are_many) {
    std::ranges::stable_sort(some, {}, [&](std::size_t cluster) { return costs[cluster]; });
    some.resize(kMostPaired);
  }
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < (are_many ? 1 : some.size()); ++i) {
    for (std::size_t j = i + 1; j < some.size(); ++j) {
      pairs.push_back(std::minmax({some[i], some[j]}));
    }
  }
  return pairs;
}

}  // namespace

std::vector<double> distances_to_end(const WeightedGraph& graph, double edge) {
  std::vector<double> distances(graph.nodes.size());
  // Here an operator already holds the longest way of its users.
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    distances[i] += graph.nodes[i].cost;
    for (const std::size_t before : graph.nodes[i].after) {
      distances[before] = std::max(distances[before], distances[i] + edge);
    }
  }
  return distances;
}

Clusters linear_clusters(const WeightedGraph& graph, const std::vector<double>& distances) {
  const auto users = users_of(graph);
  std::vector<std::size_t> farthest(graph.nodes.size());
  std::iota(farthest.begin(), farthest.end(), std::size_t{0});
  std::ranges::stable_sort(farthest, std::greater{}, [&](std::size_t op) { return distances[op]; });
  std::vector<bool> taken(graph.nodes.size());
  Clusters clusters;
  for (const std::size_t first : farthest) {
    if (taken[first]) continue;
    std::vector<std::size_t> chain{first};
    taken[first] = true;
    while (true) {
      const std::size_t none = graph.nodes.size();
      std::size_t next = none;
      for (const std::size_t user : users[chain.back()]) {
        if (!taken[user] && (next == none || distances[user] > distances[next])) next = user;
      }
      if (next == none) break;
      taken[next] = true;
      chain.push_back(next);
    }
    clusters.push_back(std::move(chain));
  }
  return clusters;
}

Clusters merge_clusters(const std::vector<double>& distances, Clusters clusters) {
  std::vector<std::vector<Span>> spans;
  for (const auto& cluster : clusters) {
    spans.push_back({{distances[cluster.back()], distances[cluster.front()]}});
  }
  // A pair that overlaps still does so when one of the two has grown: no pair is tried twice.
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    for (std::size_t j = i + 1; j < clusters.size();) {
      if (overlap(spans[i], spans[j])) {
        ++j;
        continue;
      }
      const auto at = static_cast<std::ptrdiff_t>(j);
      append(clusters[i], clusters[j]);
      spans[i].insert(spans[i].end(), spans[j].begin(), spans[j].end());
      clusters.erase(clusters.begin() + at);
      spans.erase(spans.begin() + at);
    }
  }
  return clusters;
}

Clusters bound_clusters(const WeightedGraph& graph, Clusters clusters, std::size_t most,
                        double hand_off) {
  while (clusters.size() > std::max<std::size_t>(most, 1)) {
    Trial trial(graph, clusters, hand_off);
    const auto costs = costs_of(graph, clusters);
    std::pair best{std::numeric_limits<double>::infinity(), 0.0};
    std::pair<std::size_t, std::size_t> pair{0, 1};
    for (const auto& [i, j] : pairs_of(costs)) {
      const std::pair found{trial.span(i, j), costs[i] + costs[j]};
      if (found < best) {
        best = found;
        pair = {i, j};
      }
    }
    append(clusters[pair.first], clusters[pair.second]);
    clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(pair.second));
  }
  return clusters;
}

double critical_path(const WeightedGraph& graph) {
  const auto distances = distances_to_end(graph, 0);
  return distances.empty() ? 0 : std::ranges::max(distances);
}

double total_cost(const WeightedGraph& graph) {
  return std::accumulate(graph.nodes.begin(), graph.nodes.end(), 0.0,
                         [](double sum, const WeightedNode& node) { return sum + node.cost; });
}

}  // namespace pareto::schedules
