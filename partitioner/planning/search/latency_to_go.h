// Least remaining time of a request, under a cap on every stage and link. It is an exact dynamic
// program with one number a state.
//
//   arrive(u, e, a): the model from position a on runs on entry e's device, which u counts as used
//                    already, and on devices beyond u
//   leave(u, x, b):  the same after that device's stage has ended at position b, by one of exit x's
//                    hops
//
//   arrive(u, e, a) = before_e[a]
//                     + min over exits x of its kind and b > a with S(a, b) of a busy device <= cap
//                       of  after_x[b] + leave(u, x, b)
//   leave(u, x, b)  = min over x's hops h with O_h[b] <= cap
//                     of  O_h[b] + delay_h + arrive(u + kind of h, entry of h, b)
//
// Which b are allowed depends on a but not on u, and their interval moves with a. So the minimum
// over them is that of a sliding window, which takes a constant number of steps: a queue made of
// two stacks, each with running minima. All of it is O(usages K² N), where labels would take N² and
// more. It answers "the least latency of all plans whose bottleneck is at most this", which is all
// that two objectives need. It also bounds what labels may still become.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "partitioner/planning/cost/evaluate.h"
#include "partitioner/planning/search/tables.h"

namespace pareto::search {

/// Numbers are whole nanoseconds in doubles, exact below 2^53 as check() makes sure, because
/// processors take minima of doubles in vectors. Infinity: there is no way.
///
/// Threads: one.
class LatencyToGo {
 public:
  /// `tables` outlives it. `also`: the objective, of those searched by, whose value is summed up in
  /// place of latency, under the same cap; not quite exactly.
  explicit LatencyToGo(const SearchTables& tables, std::optional<std::size_t> also = std::nullopt);

  /// Fills both tables. The least sum over all plans under the cap, none if there are none.
  std::optional<std::int64_t> solve(std::int64_t cap);
  /// Returns a plan that reaches it; after a solve() that found one.
  planning::Placement trace() const;
  /// Frees what arrive() and leave() do not need: neither solve() nor trace() may follow.
  void end_solving() { std::vector<Reach>().swap(reaches_); }

  double arrive(std::size_t usage, int entry, int position) const {
    return arrive_[(usage * tables_.entries.size() + static_cast<std::size_t>(entry)) * row_ +
                   static_cast<std::size_t>(position)];
  }
  double leave(std::size_t usage, int exit, int position) const {
    return leave_[(usage * tables_.exits.size() + static_cast<std::size_t>(exit)) * row_ +
                  static_cast<std::size_t>(position)];
  }

 private:
  /// The reach of a stage from a, for an entry and an exit of one kind: where it may end. All of
  /// (a, near[a]] is allowed, and near does not ascend towards smaller a; beyond, up to far[a],
  /// each end has to be looked at.
  struct Reach {
    int entry = 0;
    int exit = 0;
    std::vector<int> near;
    std::vector<int> far;
    /// Ends in place of both if positions are no chain: the ends allowed, one begin's behind
    /// another's, and where each one's start.
    std::vector<int> ends{};
    std::vector<std::size_t> starts{};

    std::span<const int> ends_of(int begin) const {
      const std::size_t start = starts[static_cast<std::size_t>(begin)];
      return {ends.data() + start, starts[static_cast<std::size_t>(begin) + 1] - start};
    }
  };

  void set_cap(std::int64_t cap);
  void set_reach(Reach& reach) const;
  void set_lists(Reach& reach) const;
  /// Returns what a hop adds when the kinds of `usage` are used, the sender's included.
  const std::vector<double>& takes_of(int hop, std::size_t usage) const {
    const auto index = static_cast<std::size_t>(hop);
    return hop_[tables_.is_first(usage, tables_.hops[index].from) ? 1 : 0][index];
  }
  void fill_leave(std::size_t usage, int exit);
  void fill_arrive(std::size_t usage, const Reach& reach);
  void fill_arrive_by_lists(std::size_t usage, const Reach& reach);
  /// Returns the least over some of ends_.
  double least_of(std::span<const int> ends) const;
  /// Returns the first end at which `is_it` holds, from near to far, among those allowed; 0 if
  /// there is none.
  template <typename Predicate>
  int find_end(const Reach& reach, int begin, Predicate is_it) const;
  bool allowed(const Reach& reach, int begin, int end) const;

  const SearchTables& tables_;
  bool is_chain_ = true;
  std::size_t row_;                 ///< positions
  std::vector<std::size_t> order_;  ///< order of usages, the largest first
  std::int64_t cap_ = 0;
  std::vector<Reach> reaches_;
  std::vector<std::vector<double>> before_;  ///< sums by entry …
  std::vector<std::vector<double>> after_;   ///< … by exit …
  /// … and by hop; infinite over the cap. [1]: of a first stage.
  std::array<std::vector<std::vector<double>>, 2> hop_;
  std::array<std::vector<std::vector<double>>, 2> hop_uncapped_;
  std::vector<Times> least_after_;     ///< least after[] by exit, from there on
  std::vector<Times> greatest_after_;  ///< greatest by exit, up to there
  std::vector<double> arrive_;
  std::vector<double> leave_;
  std::vector<double> ends_;    ///< after + leave of one exit
  std::vector<double> behind_;  ///< running minima of the older stack of the sliding window
};

}  // namespace pareto::search
