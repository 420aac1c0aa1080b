// Stretches of operators run either one after the other, each operator with all threads, or side by
// side on workers of one thread. A dynamic program chooses, by measured costs.
// Source: Ding, Zhu, Jia, Pekhimenko & Han, "IOS: Inter-Operator Scheduler for CNN Acceleration",
// MLSys 2021, which does so on GPUs.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

#include "runtime/schedules/assignment.h"

namespace pareto::schedules {
namespace {

/// Places in a block at which a stretch may begin or end.
constexpr std::size_t kMostPlaces = 32;

enum Kind : std::size_t { kShared, kBeside };

/// Operators of order[begin, end), all run in one way.
struct Stretch {
  Kind kind = kShared;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Returns the positions at which at most one value crosses, 0 and the end among them.
std::vector<std::size_t> find_entries(const WeightedGraph& graph) {
  const std::size_t count = graph.nodes.size();
  std::vector<std::size_t> last_user(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::size_t before : graph.nodes[i].after) last_user[before] = i;
  }
  std::vector<std::size_t> dying(count + 1);
  std::vector<std::size_t> entries{0};
  std::size_t live = 0;
  for (std::size_t position = 1; position <= count; ++position) {
    // Now operator position - 1 has run; it was the last user of dying[position - 1] values.
    live -= dying[position - 1];
    const std::size_t last = last_user[position - 1];
    if (last > 0) {
      ++live;
      ++dying[last];
    }
    if (live <= 1 || position == count) entries.push_back(position);
  }
  return entries;
}

/// Chooses stretches. Positions are those of an order of the operators: blocks one after the other,
/// in each those with the longest way to the end first.
class Chooser {
 public:
  explicit Chooser(const ScheduleRequest& request)
      : graph_(request.graph),
        hand_off_(request.hand_off),
        scheduler_(request.graph, request.workers, request.hand_off),
        best_(graph_.nodes.size() + 1) {
    order_ = scheduler_.order();
    std::vector<std::size_t> block_of(order_.size());
    entries_ = find_entries(graph_);
    for (std::size_t block = 0; block + 1 < entries_.size(); ++block) {
      for (std::size_t i = entries_[block]; i < entries_[block + 1]; ++i) block_of[i] = block;
    }
    std::ranges::stable_sort(order_, {}, [&](std::size_t op) { return block_of[op]; });
  }

  std::vector<Stretch> choose() {
    best_[0] = {Best{0, 0, kShared}, Best{0, 0, kShared}};
    for (std::size_t block = 0; block + 1 < entries_.size(); ++block) {
      const auto places = places_of(entries_[block], entries_[block + 1]);
      for (std::size_t j = 1; j < places.size(); ++j) {
        extend(kShared, places[j - 1], places[j], shared_cost(places[j - 1], places[j]));
        for (std::size_t i = 0; i < j; ++i) {
          extend(kBeside, places[i], places[j], scheduler_.run(between(places[i], places[j])).span);
        }
      }
    }
    return trace_back();
  }

  /// Returns operators, ascending.
  std::vector<std::size_t> operators(const Stretch& stretch) const {
    const auto some = between(stretch.begin, stretch.end);
    std::vector<std::size_t> sorted(some.begin(), some.end());
    std::ranges::sort(sorted);
    return sorted;
  }

 private:
  /// The fastest way to a position: how long it takes, and where its last stretch begins.
  struct Best {
    double time = std::numeric_limits<double>::infinity();
    std::size_t from = 0;
    Kind before = kShared;  ///< kind of the stretch that ends there
  };

  std::span<const std::size_t> between(std::size_t begin, std::size_t end) const {
    return std::span(order_).subspan(begin, end - begin);
  }

  double shared_cost(std::size_t begin, std::size_t end) const {
    double sum = 0;
    for (const std::size_t op : between(begin, end)) sum += graph_.nodes[op].shared_cost();
    return sum;
  }

  static std::vector<std::size_t> places_of(std::size_t begin, std::size_t end) {
    const std::size_t count = end - begin;
    const std::size_t pieces = std::min(count, kMostPlaces);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i <= pieces; ++i) places.push_back(begin + i * count / pieces);
    return places;
  }

  /// Tries a stretch. Workers meet where the kind changes: values then go there and back.
  void extend(Kind kind, std::size_t begin, std::size_t end, double cost) {
    for (const Kind before : {kShared, kBeside}) {
      const double change = before == kind || begin == 0 ? 0 : 2 * hand_off_;
      const double time = best_[begin][before].time + change + cost;
      if (time < best_[end][kind].time) best_[end][kind] = {time, begin, before};
    }
  }

  /// Returns the stretches of the fastest way; neighbours of one kind are one.
  std::vector<Stretch> trace_back() const {
    std::vector<Stretch> stretches;
    std::size_t end = order_.size();
    Kind kind = best_[end][kBeside].time < best_[end][kShared].time ? kBeside : kShared;
    while (end > 0) {
      const Best& best = best_[end][kind];
      if (!stretches.empty() && stretches.back().kind == kind) {
        stretches.back().begin = best.from;
      } else {
        stretches.push_back({kind, best.from, end});
      }
      end = best.from;
      kind = best.before;
    }
    std::ranges::reverse(stretches);
    return stretches;
  }

  const WeightedGraph& graph_;
  double hand_off_;
  ListScheduler scheduler_;
  std::vector<std::size_t> entries_;
  std::vector<std::size_t> order_;
  std::vector<std::array<Best, 2>>
      best_;  ///< the best for each position and kind of the last stretch
};

/// Deals out operators, ascending, in the faster of two ways.
Assignment assign(const ScheduleRequest& request, ListScheduler& scheduler,
                  const std::vector<std::size_t>& operators) {
  std::vector<bool> is_in(request.graph.nodes.size());
  for (const std::size_t op : operators) is_in[op] = true;
  std::vector<std::size_t> ordered;
  std::ranges::copy_if(scheduler.order(), std::back_inserter(ordered),
                       [&](std::size_t op) { return is_in[op]; });
  Assignment listed = scheduler.run(ordered);
  Assignment clustered =
      assign_clusters(request.graph, operators, request.workers, request.hand_off);
  return clustered.span < listed.span ? clustered : listed;
}

/// Returns a timetable of stretches that run one after the other.
Timetable timetable_of(const ScheduleRequest& request, const Chooser& chooser,
                       const std::vector<Stretch>& stretches) {
  Timetable timetable;
  ListScheduler scheduler(request.graph, request.workers, request.hand_off);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const auto operators = chooser.operators(stretches[i]);
    if (stretches[i].kind == kShared) {
      add_shared_phase(request.graph, operators, fmt::format("stretch {}", i + 1), timetable);
      continue;
    }
    const auto name = [&](std::size_t worker, std::size_t piece) {
      return fmt::format("stretch {}, worker {}.{}", i + 1, worker + 1, piece + 1);
    };
    add_phase(request.graph, assign(request, scheduler, operators), name, timetable);
  }
  return timetable;
}

}  // namespace

Expected<Timetable> make_mixed(const ScheduleRequest& request) {
  PARETO_ASSIGN(Timetable best, make_sequential(request));
  const std::size_t count = request.graph.nodes.size();
  if (request.workers < 2 || count < 2) return best;
  double shortest = makespan(best, request.graph, request.hand_off);
  Chooser chooser(request);
  // What is best by the program, and all side by side: meetings may cost more than they gain.
  for (const auto& stretches : {chooser.choose(), {Stretch{kBeside, 0, count}}}) {
    Timetable timetable = timetable_of(request, chooser, stretches);
    const double span = makespan(timetable, request.graph, request.hand_off);
    if (span < shortest) {
      shortest = span;
      best = std::move(timetable);
    }
  }
  return best;
}

}  // namespace pareto::schedules
