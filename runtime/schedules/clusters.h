// Linear clustering of an operator graph, and merging of clusters.
// Source: Das & Rauchwerger, "Automatic task parallelization of dataflow graphs in ML/DL models",
// IPDPS 2024, pp. 728-739: algorithms 1 to 4. Bounded merging is a further step of ours.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/schedules/weighted_graph.h"

namespace pareto::schedules {

/// Operators of each cluster, ascending.
using Clusters = std::vector<std::vector<std::size_t>>;

/// Returns of each operator its own cost and that of the longest way from it to an end; an edge
/// costs `edge`. Algorithm 1.
std::vector<double> distances_to_end(const WeightedGraph& graph, double edge);

/// Takes the operator that is farthest from the end, follows from it the operator left that is
/// farthest, and so on: each chain is a cluster. The earlier one of two that are equally far comes
/// first. Algorithm 2.
Clusters linear_clusters(const WeightedGraph& graph, const std::vector<double>& distances);

/// Merges the first two clusters whose spans of distances do not overlap, again and again, until
/// there are none. Spans that touch do not overlap. Algorithms 3 and 4.
Clusters merge_clusters(const std::vector<double>& distances, Clusters clusters);

/// The most clusters of which bound_clusters() tries every pair.
inline constexpr std::size_t kMostPaired = 24;

/// Merges clusters until there are at most `most`: of all pairs the one with which the clusters,
/// each on a worker of its own, take least time, and of equal ones the one of least cost. If there
/// are more than kMostPaired clusters, the one of least cost is merged with one of the next.
Clusters bound_clusters(const WeightedGraph& graph, Clusters clusters, std::size_t most,
                        double hand_off);

/// Returns the cost of the longest way through the graph: no number of workers is faster.
double critical_path(const WeightedGraph& graph);
/// Returns the cost of all operators.
double total_cost(const WeightedGraph& graph);

}  // namespace pareto::schedules
