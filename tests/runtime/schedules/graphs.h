// Operator graphs for tests of schedules: small ones by hand, and random ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/schedules/weighted_graph.h"

namespace pareto::test {

/// Adds an operator, and returns its number.
inline std::size_t add(schedules::WeightedGraph& graph, double cost,
                       std::vector<std::size_t> after = {}, double cost_all = 0) {
  std::ranges::sort(after);
  graph.nodes.push_back({.kind = "test::op",
                         .cost = cost,
                         .cost_all = cost_all,
                         .after = std::move(after),
                         .output_bytes = 8});
  return graph.nodes.size() - 1;
}

/// One operator, `width` chains of `length` behind it, one that reads all of them.
inline schedules::WeightedGraph branches(std::size_t width, std::size_t length, double cost,
                                         double cost_all = 0) {
  schedules::WeightedGraph graph;
  const std::size_t root = add(graph, cost, {}, cost_all);
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < width; ++i) {
    std::size_t last = root;
    for (std::size_t k = 0; k < length; ++k) last = add(graph, cost, {last}, cost_all);
    ends.push_back(last);
  }
  add(graph, cost, ends, cost_all);
  return graph;
}

/// Up to 40 operators; some cost nothing, many cost the same, all threads help more or less.
inline schedules::WeightedGraph random_graph(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  schedules::WeightedGraph graph;
  const std::size_t count = 1 + below(40);
  const std::size_t reach = 1 + below(12);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::size_t> after;
    for (std::size_t k = i - std::min(i, reach); k < i; ++k) {
      if (below(3) == 0) after.push_back(k);
    }
    const auto cost = static_cast<double>(below(6) * 1000);
    const double cost_all = below(3) == 0 ? 0 : cost / static_cast<double>(1 + below(3));
    add(graph, cost, after, cost_all);
    graph.nodes.back().output_bytes = below(5) * 100;
    if (below(2) == 0) graph.nodes.back().scope = "part." + std::to_string(i / 5);
  }
  return graph;
}

}  // namespace pareto::test
