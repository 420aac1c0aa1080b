#include "partitioner/planning/search/latency_to_go.h"

#include <algorithm>
#include <limits>

namespace pareto::search {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double* row_of(std::vector<double>& table, std::size_t row, std::size_t width) {
  return table.data() + row * width;
}

/// Returns fixed + per_nanosecond × time for each time.
std::vector<double> scaled(const Times& times, double per_nanosecond, double fixed) {
  std::vector<double> result;
  for (const std::int64_t time : times) {
    result.push_back(fixed + static_cast<double>(time) * per_nanosecond);
  }
  return result;
}

}  // namespace

LatencyToGo::LatencyToGo(const SearchTables& tables, std::optional<std::size_t> also)
    : tables_(tables), row_(tables.positions.size()), order_(tables.ascending_usages()) {
  std::ranges::reverse(order_);
  for (const Kind& kind : tables.kinds) is_chain_ = is_chain_ && kind.ends.empty();
  const auto rate = [&](int kind) {
    return also ? tables.kinds[at(kind)].rates[*also] : planning::StageRate{0, 1};
  };
  for (const Port& entry : tables.entries) {
    const planning::StageRate of = rate(entry.kind);
    before_.push_back(
        scaled(entry.alone, static_cast<double>(of.per_nanosecond), static_cast<double>(of.fixed)));
  }
  for (const Port& exit : tables.exits) {
    after_.push_back(scaled(exit.alone, static_cast<double>(rate(exit.kind).per_nanosecond), 0));
    Times& least = least_after_.emplace_back(exit.busy);
    for (std::size_t i = row_ - 1; i-- > 0;) least[i] = std::min(least[i], least[i + 1]);
    Times& greatest = greatest_after_.emplace_back(exit.busy);
    for (std::size_t i = 2; i < row_; ++i) greatest[i] = std::max(greatest[i], greatest[i - 1]);
  }
  for (const Hop& hop : tables.hops) {
    for (const std::size_t first : {0, 1}) {
      std::vector<double>& row = hop_uncapped_[first].emplace_back(row_, 0.0);
      const Times& delay = first == 1 ? hop.first_delay : hop.delay;
      for (std::size_t i = 0; i < row_; ++i) {
        row[i] = static_cast<double>(also ? hop.values[*also][i] : hop.occupancy[i] + delay[i]);
      }
    }
  }
  hop_ = hop_uncapped_;
  for (const Kind& kind : tables.kinds) {
    for (const int entry : kind.entries) {
      for (const int exit : kind.exits) {
        reaches_.push_back({entry, exit, std::vector<int>(row_), std::vector<int>(row_)});
      }
    }
  }
  arrive_.resize(tables.usages * tables.entries.size() * row_, kInfinity);
  leave_.resize(tables.usages * tables.exits.size() * row_, kInfinity);
  ends_.resize(row_);
  behind_.resize(row_);
}

void LatencyToGo::set_cap(std::int64_t cap) {
  cap_ = cap;
  hop_ = hop_uncapped_;
  for (auto& hops : hop_) {
    for (std::size_t h = 0; h < hops.size(); ++h) {
      const Times& occupancy = tables_.hops[h].occupancy;
      for (std::size_t i = 0; i < row_; ++i) {
        if (occupancy[i] > cap) hops[h][i] = kInfinity;
      }
    }
  }
  for (Reach& reach : reaches_) set_reach(reach);
}

void LatencyToGo::set_reach(Reach& reach) const {
  const Times& before = tables_.entries[at(reach.entry)].busy;
  const Times& least = least_after_[at(reach.exit)];
  const Times& greatest = greatest_after_[at(reach.exit)];
  const int last = tables_.last();
  if (!is_chain_) {
    set_lists(reach);
    return;
  }
  int near = last;
  int far = last;
  int nearest = last;
  for (int begin = last - 1; begin >= 0; --begin) {
    const std::int64_t room = cap_ - before[at(begin)];
    const auto walk = [room, last](const Times& ends, int from) {
      while (from > 0 && ends[at(from)] > room) --from;
      while (from < last && ends[at(from + 1)] <= room) ++from;
      return from;
    };
    near = walk(greatest, near);
    far = walk(least, far);
    const int farthest = tables_.is_all(begin, last) ? last - 1 : last;
    nearest = std::min({nearest, near, farthest});
    reach.near[at(begin)] = nearest;
    reach.far[at(begin)] = std::min(far, farthest);
  }
}

void LatencyToGo::set_lists(Reach& reach) const {
  const auto& all = tables_.kinds[at(tables_.entries[at(reach.entry)].kind)].ends;
  std::size_t most = 0;
  for (const std::vector<int>& ends : all) most += ends.size();
  reach.ends.resize(most);
  reach.starts.assign(row_ + 1, 0);
  const Times& before = tables_.entries[at(reach.entry)].busy;
  const Times& after = tables_.exits[at(reach.exit)].busy;
  // Written in any case, and counted where allowed: half of them are not, and which ones nobody can
  // tell before.
  int* next = reach.ends.data();
  for (std::size_t begin = 0; begin < row_; ++begin) {
    const std::int64_t room = cap_ - before[begin];
    for (const int end : all[begin]) {
      *next = end;
      next += after[at(end)] <= room ? 1 : 0;
    }
    reach.starts[begin + 1] = static_cast<std::size_t>(next - reach.ends.data());
  }
}

bool LatencyToGo::allowed(const Reach& reach, int begin, int end) const {
  return tables_.entries[at(reach.entry)].busy[at(begin)] +
             tables_.exits[at(reach.exit)].busy[at(end)] <=
         cap_;
}

void LatencyToGo::fill_leave(std::size_t usage, int exit) {
  double* const leave = row_of(leave_, usage * tables_.exits.size() + at(exit), row_);
  std::fill(leave, leave + row_, kInfinity);
  for (const int index : tables_.kinds[at(tables_.exits[at(exit)].kind)].hops) {
    const Hop& hop = tables_.hops[at(index)];
    if (hop.exit != exit) continue;
    const double* const takes = takes_of(index, usage).data();
    if (hop.to < 0) {
      leave[row_ - 1] = std::min(leave[row_ - 1], takes[row_ - 1]);
      continue;
    }
    const Kind& next = tables_.kinds[at(hop.to)];
    if (tables_.used(usage, hop.to) == next.count()) continue;
    const double* const there =
        row_of(arrive_, (usage + next.stride) * tables_.entries.size() + at(hop.entry), row_);
    for (std::size_t i = 1; i + 1 < row_; ++i) {
      const double way = takes[i] + there[i];
      leave[i] = way < leave[i] ? way : leave[i];
    }
  }
}

void LatencyToGo::fill_arrive(std::size_t usage, const Reach& reach) {
  const double* const leave = row_of(leave_, usage * tables_.exits.size() + at(reach.exit), row_);
  const std::vector<double>& after = after_[at(reach.exit)];
  for (std::size_t i = 0; i < row_; ++i) ends_[i] = after[i] + leave[i];
  double* const arrive = row_of(arrive_, usage * tables_.entries.size() + at(reach.entry), row_);
  const std::vector<double>& before = before_[at(reach.entry)];
  // Ends in [split, …] have running minima from split on in behind_; those before split have one
  // minimum together.
  int split = tables_.last() + 1;
  double ahead = kInfinity;
  for (int begin = tables_.last() - 1; begin >= 0; --begin) {
    ahead = std::min(ahead, ends_[at(begin + 1)]);
    const int near = reach.near[at(begin)];
    if (near < split) {
      split = begin + 1;
      ahead = kInfinity;
      double least = kInfinity;
      for (int end = split; end <= near; ++end) {
        least = std::min(least, ends_[at(end)]);
        behind_[at(end)] = least;
      }
    }
    double least = kInfinity;
    if (near >= split) least = std::min(ahead, behind_[at(near)]);
    for (int end = std::max(near, begin) + 1; end <= reach.far[at(begin)]; ++end) {
      if (allowed(reach, begin, end)) least = std::min(least, ends_[at(end)]);
    }
    arrive[begin] = std::min(arrive[begin], before[at(begin)] + least);
  }
}

void LatencyToGo::fill_arrive_by_lists(std::size_t usage, const Reach& reach) {
  const double* const leave = row_of(leave_, usage * tables_.exits.size() + at(reach.exit), row_);
  const std::vector<double>& after = after_[at(reach.exit)];
  const int last = tables_.last();
  int first_finite = last;
  for (int end = last; end >= 0; --end) {
    ends_[at(end)] = after[at(end)] + leave[end];
    if (ends_[at(end)] < kInfinity) first_finite = end;
  }
  double* const arrive = row_of(arrive_, usage * tables_.entries.size() + at(reach.entry), row_);
  const std::vector<double>& before = before_[at(reach.entry)];
  // The first device begins at the beginning; from the last one there is no way but to the end.
  const int kind = tables_.entries[at(reach.entry)].kind;
  const int begins = tables_.is_first(usage, kind) ? 1 : last;
  for (int begin = 0; begin < begins; ++begin) {
    const std::span<const int> ends = reach.ends_of(begin);
    if (ends.empty()) continue;
    double least = kInfinity;
    if (first_finite < last) {
      least = least_of(ends);
    } else if (ends.back() == last) {
      least = ends_.back();
    }
    arrive[begin] = std::min(arrive[begin], before[at(begin)] + least);
  }
}

double LatencyToGo::least_of(std::span<const int> ends) const {
  // Four minima at a time: one would wait for itself.
  double least[4] = {kInfinity, kInfinity, kInfinity, kInfinity};
  std::size_t i = 0;
  for (; i + 4 <= ends.size(); i += 4) {
    for (std::size_t j = 0; j < 4; ++j) least[j] = std::min(least[j], ends_[at(ends[i + j])]);
  }
  for (; i < ends.size(); ++i) least[0] = std::min(least[0], ends_[at(ends[i])]);
  return std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
}

template <typename Predicate>
int LatencyToGo::find_end(const Reach& reach, int begin, Predicate is_it) const {
  if (!is_chain_) {
    const std::span<const int> ends = reach.ends_of(begin);
    const auto found = std::ranges::find_if(ends, is_it);
    return found == ends.end() ? 0 : *found;
  }
  for (int end = begin + 1; end <= reach.far[at(begin)]; ++end) {
    if (allowed(reach, begin, end) && is_it(end)) return end;
  }
  return 0;
}

std::optional<std::int64_t> LatencyToGo::solve(std::int64_t cap) {
  set_cap(cap);
  for (const std::size_t usage : order_) {
    for (std::size_t kind = 0; kind < tables_.kinds.size(); ++kind) {
      if (tables_.used(usage, static_cast<int>(kind)) == 0) continue;
      for (const int entry : tables_.kinds[kind].entries) {
        double* const arrive = row_of(arrive_, usage * tables_.entries.size() + at(entry), row_);
        std::fill(arrive, arrive + row_, kInfinity);
      }
      for (const int exit : tables_.kinds[kind].exits) fill_leave(usage, exit);
    }
    for (const Reach& reach : reaches_) {
      if (tables_.used(usage, tables_.entries[at(reach.entry)].kind) > 0) {
        is_chain_ ? fill_arrive(usage, reach) : fill_arrive_by_lists(usage, reach);
      }
    }
  }
  double least = kInfinity;
  for (const int index : tables_.source_hops) {
    const Hop& hop = tables_.hops[at(index)];
    least = std::min(
        least, takes_of(index, 0)[0] + arrive(tables_.kinds[at(hop.to)].stride, hop.entry, 0));
  }
  if (least == kInfinity) return std::nullopt;
  return static_cast<std::int64_t>(least);
}

planning::Placement LatencyToGo::trace() const {
  std::vector<TracedStage> stages;
  std::vector<int> hops;
  // Sums of whole numbers are exact, so the way that was the least one is found again by being
  // equal to it.
  double least = kInfinity;
  for (const int index : tables_.source_hops) {
    const Hop& hop = tables_.hops[at(index)];
    const double way =
        takes_of(index, 0)[0] + arrive(tables_.kinds[at(hop.to)].stride, hop.entry, 0);
    if (way >= least) continue;
    least = way;
    hops.assign(1, index);
  }
  std::size_t usage = 0;
  for (int begin = 0; !hops.empty() && tables_.hops[at(hops.back())].to >= 0;) {
    const Hop& arrived = tables_.hops[at(hops.back())];
    usage += tables_.kinds[at(arrived.to)].stride;
    const double target = arrive(usage, arrived.entry, begin);
    // Of equal ways that with the shortest stage: it may have the smaller bottleneck.
    TracedStage stage{arrived.to, begin, begin};
    int left_by = -1;
    for (const Reach& reach : reaches_) {
      if (reach.entry != arrived.entry) continue;
      const int end = left_by >= 0 ? 0 : find_end(reach, begin, [&](int here) {
        return before_[at(reach.entry)][at(begin)] + after_[at(reach.exit)][at(here)] +
                   leave(usage, reach.exit, here) ==
               target;
      });
      if (end == 0) continue;
      stage.end = end;
      left_by = reach.exit;
    }
    if (left_by < 0) break;
    for (const int index : tables_.kinds[at(arrived.to)].hops) {
      const Hop& hop = tables_.hops[at(index)];
      if (hop.exit != left_by || (hop.to < 0) != (stage.end == tables_.last())) continue;
      double way = takes_of(index, usage)[at(stage.end)];
      if (hop.to >= 0) {
        const Kind& next = tables_.kinds[at(hop.to)];
        if (tables_.used(usage, hop.to) == next.count()) continue;
        way += arrive(usage + next.stride, hop.entry, stage.end);
      }
      if (way != leave(usage, left_by, stage.end)) continue;
      hops.push_back(index);
      break;
    }
    stages.push_back(stage);
    begin = stage.end;
  }
  return to_placement(tables_, stages, hops);
}

}  // namespace pareto::search
