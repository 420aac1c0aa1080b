// The plans that no other beats in latency and throughput, of some that stand in order.
#pragma once

#include <cstddef>
#include <vector>

namespace pareto::statistics {

/// `order`: plans by ascending latency. Each whose throughput is above that of all before it.
/// throughput(i): plan i's, or its logarithm.
template <typename Throughput>
std::vector<std::size_t> front_of(const std::vector<std::size_t>& order, Throughput throughput) {
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {
    if (front.empty() || throughput(i) > throughput(front.back())) front.push_back(i);
  }
  return front;
}

}  // namespace pareto::statistics
