// Partial plans by what they have cost so far, and those of them that no other beats.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace pareto::search {

/// Label with D criteria: latency, bottleneck, then perhaps a third objective and the loads of
/// shared media. Whatever is added to two plans, the criterion that was no smaller stays no
/// smaller. All criteria are sums or maxima, or begin again at the same time for all rivals.
template <int D>
struct Label {
  std::array<std::int64_t, D> costs{};
  std::int32_t parent = -1;  ///< step of the arrival before this label's stage
  std::int32_t hop = -1;     ///< hop by which it has arrived
};

/// Leaves the labels that no other beats or equals, by ascending latency; returns how many it
/// compared. O(n log n) for two and mostly for three criteria. Of more it compares pairs: it stops
/// soon after `most` of them, and what it leaves then is of no use.
template <int D>
std::int64_t keep_best(std::vector<Label<D>>& labels, std::int64_t most = INT64_MAX) {
  auto compared = static_cast<std::int64_t>(labels.size());
  if (labels.size() < 2) return compared;
  std::ranges::sort(labels, {}, &Label<D>::costs);
  std::size_t kept = 0;
  // Used with three criteria: the best pairs of the last two so far, with the first of them
  // ascending.
  std::vector<std::array<std::int64_t, 2>> stairs;
  for (std::size_t i = 0; i < labels.size() && compared <= most; ++i) {
    const auto& costs = labels[i].costs;
    bool beaten = false;
    if constexpr (D == 2) {
      beaten = kept > 0 && labels[kept - 1].costs[1] <= costs[1];
    } else if constexpr (D == 3) {
      const std::array<std::int64_t, 2> here{costs[1], costs[2]};
      auto above =
          std::ranges::upper_bound(stairs, here[0], {}, [](const auto& s) { return s[0]; });
      beaten = above != stairs.begin() && (*std::prev(above))[1] <= here[1];
      if (!beaten) {
        // The step at the same height, if there is one, is beaten as well.
        auto first = above;
        if (first != stairs.begin() && (*std::prev(first))[0] == here[0]) --first;
        auto end = first;
        while (end != stairs.end() && (*end)[1] >= here[1]) ++end;
        stairs.insert(stairs.erase(first, end), here);
      }
    } else {
      std::size_t j = 0;
      for (; j < kept && !beaten; ++j) {
        beaten = true;
        for (int d = 1; d < D; ++d) beaten = beaten && labels[j].costs[d] <= costs[d];
      }
      compared += static_cast<std::int64_t>(j);
    }
    if (!beaten) labels[kept++] = labels[i];
  }
  labels.resize(kept);
  return compared;
}

}  // namespace pareto::search
