// Every plan that tables hold, one after the other, by plain recursion: what dynamic programs over
// them are compared with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "partitioner/planning/search/tables.h"

namespace pareto::test {

/// A pipeline in the words of tables.
struct Way {
  std::vector<search::TracedStage> stages;
  std::vector<int> hops;               ///< stages + 1
  std::vector<std::size_t> usages;     ///< by stage, with the stage's own device
  std::vector<std::int64_t> arrived;   ///< by stage, nanoseconds until it has its input
  std::vector<std::int64_t> limiting;  ///< by stage, the bottleneck of all before it, at least 1
  std::int64_t latency = 0;            ///< sum of stages and hops
  std::int64_t bottleneck = 1;         ///< of stages and links; media are left out
  planning::Values also{};             ///< sums of what rates and hops say, by objective
};

class Ways {
 public:
  explicit Ways(const search::SearchTables& tables) : tables_(tables) {}

  std::vector<Way> all() {
    for (const int hop : tables_.source_hops) cross(Way{}, 0, hop, 0);
    return std::move(found_);
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  /// Sends what stands at `position` over a hop; the last stage of `way`, if any, has to end there.
  void cross(Way way, std::size_t usage, int index, int position) {
    const search::Hop& hop = tables_.hops[at(index)];
    const auto& delay = way.stages.size() == 1 ? hop.first_delay : hop.delay;
    way.latency += hop.occupancy[at(position)] + delay[at(position)];
    way.bottleneck = std::max(way.bottleneck, hop.occupancy[at(position)]);
    for (std::size_t i = 0; i < hop.values.size(); ++i) {
      way.also[i] += hop.values[i][at(position)];
    }
    way.hops.push_back(index);
    if (hop.to < 0) {
      found_.push_back(std::move(way));
      return;
    }
    usage += tables_.kinds[at(hop.to)].stride;
    way.usages.push_back(usage);
    way.arrived.push_back(way.latency);
    way.limiting.push_back(way.bottleneck);
    for (int end = position + 1; end <= tables_.last(); ++end) {
      if (may_lie(tables_.kinds[at(hop.to)], position, end))
        compute(way, usage, hop, position, end);
    }
  }

  bool may_lie(const search::Kind& kind, int begin, int end) const {
    if (tables_.is_all(begin, end)) return false;
    return kind.ends.empty() || std::ranges::binary_search(kind.ends[at(begin)], end);
  }

  void compute(const Way& before, std::size_t usage, const search::Hop& in, int begin, int end) {
    const search::Kind& kind = tables_.kinds[at(in.to)];
    const search::Port& entry = tables_.entries[at(in.entry)];
    for (const int index : kind.hops) {
      const search::Hop& out = tables_.hops[at(index)];
      if ((out.to < 0) != (end == tables_.last())) continue;
      if (out.to >= 0 && tables_.used(usage, out.to) == tables_.kinds[at(out.to)].count()) continue;
      const search::Port& exit = tables_.exits[at(out.exit)];
      Way way = before;
      const std::int64_t time = entry.alone[at(begin)] + exit.alone[at(end)];
      way.latency += time;
      for (std::size_t i = 0; i < kind.rates.size(); ++i) {
        way.also[i] += kind.rates[i].fixed + kind.rates[i].per_nanosecond * time;
      }
      way.bottleneck = std::max(way.bottleneck, entry.busy[at(begin)] + exit.busy[at(end)]);
      way.stages.push_back({in.to, begin, end});
      cross(std::move(way), usage, index, end);
    }
  }

  const search::SearchTables& tables_;
  std::vector<Way> found_;
};

inline std::vector<Way> ways_in(const search::SearchTables& tables) { return Ways(tables).all(); }

}  // namespace pareto::test
