#include "runtime/schedules/assignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "runtime/schedules/clusters.h"

namespace pareto::schedules {
namespace {

constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

/// Where an operator stands in what workers run.
struct Seat {
  std::size_t worker = kNobody;
  std::size_t index = 0;
};

std::vector<Seat> seats_of(const WeightedGraph& graph, const Assignment& assignment) {
  std::vector<Seat> seats(graph.nodes.size());
  for (std::size_t worker = 0; worker < assignment.workers.size(); ++worker) {
    const auto& operators = assignment.workers[worker];
    for (std::size_t i = 0; i < operators.size(); ++i) seats[operators[i]] = {worker, i};
  }
  return seats;
}

/// Returns of each worker the operators before which its run is cut: those that wait for another
/// worker, and those after one that another worker waits for. Who already waited for a later
/// operator of a worker does not wait again.
std::vector<std::vector<bool>> find_cuts(const WeightedGraph& graph, const Assignment& assignment) {
  const auto seats = seats_of(graph, assignment);
  std::vector<std::vector<bool>> cuts;
  for (const auto& operators : assignment.workers) cuts.emplace_back(operators.size() + 1);
  for (std::size_t worker = 0; worker < assignment.workers.size(); ++worker) {
    // Operators of each other worker that are known to have run.
    std::vector<std::size_t> known(assignment.workers.size());
    for (std::size_t i = 0; i < assignment.workers[worker].size(); ++i) {
      std::vector<std::size_t> needs = known;
      for (const std::size_t before : graph.nodes[assignment.workers[worker][i]].after) {
        const Seat& seat = seats[before];
        if (seat.worker == kNobody || seat.worker == worker) continue;
        needs[seat.worker] = std::max(needs[seat.worker], seat.index + 1);
      }
      for (std::size_t other = 0; other < needs.size(); ++other) {
        if (needs[other] == known[other]) continue;
        cuts[worker][i] = true;
        cuts[other][needs[other]] = true;
      }
      known = std::move(needs);
    }
  }
  return cuts;
}

void add_unit(const WeightedGraph& graph, std::vector<std::size_t> operators, std::string fallback,
              Timetable& timetable) {
  std::ranges::sort(operators);
  std::string name = name_unit(graph, operators, std::move(fallback));
  timetable.units.push_back({std::move(operators), std::move(name)});
}

void drop_idle(Assignment& assignment) {
  std::erase_if(assignment.workers, [](const auto& operators) { return operators.empty(); });
  if (assignment.workers.empty()) assignment.workers.emplace_back();
}

/// Returns some operators as a graph of their own.
WeightedGraph part_of(const WeightedGraph& graph, std::span<const std::size_t> operators) {
  std::vector<std::size_t> number(graph.nodes.size(), kNobody);
  WeightedGraph part;
  for (const std::size_t op : operators) {
    number[op] = part.nodes.size();
    WeightedNode node{.kind = graph.nodes[op].kind, .cost = graph.nodes[op].cost};
    for (const std::size_t before : graph.nodes[op].after) {
      if (number[before] != kNobody) node.after.push_back(number[before]);
    }
    part.nodes.push_back(std::move(node));
  }
  return part;
}

/// Returns how long clusters take, each on a worker of its own, in the order of the graph.
double span_of(const WeightedGraph& graph, const Clusters& clusters, double hand_off) {
  const auto seats = seats_of(graph, {clusters});
  std::vector<double> free(clusters.size());
  std::vector<double> ends(graph.nodes.size());
  for (std::size_t op = 0; op < ends.size(); ++op) {
    double start = free[seats[op].worker];
    for (const std::size_t before : graph.nodes[op].after) {
      const bool is_near = seats[before].worker == seats[op].worker;
      start = std::max(start, ends[before] + (is_near ? 0 : hand_off));
    }
    ends[op] = free[seats[op].worker] = start + graph.nodes[op].cost;
  }
  return ends.empty() ? 0 : std::ranges::max(ends);
}

}  // namespace

Expected<> check(const ScheduleRequest& request) {
  if (request.workers == 0 || request.workers > kMostWorkers) {
    return fail(ErrorCode::kInvalidArgument, "a schedule for {} workers; 1 to {} are possible",
                request.workers, kMostWorkers);
  }
  if (request.batch < 1) {
    return fail(ErrorCode::kInvalidArgument, "a schedule for a batch of {}; at least 1 is possible",
                request.batch);
  }
  if (!std::isfinite(request.hand_off) || request.hand_off < 0) {
    return fail(ErrorCode::kInvalidArgument, "a hand-off costs {}; it must cost at least 0",
                request.hand_off);
  }
  return check(request.graph);
}

ListScheduler::ListScheduler(const WeightedGraph& graph, std::size_t workers, double hand_off)
    : graph_(graph),
      hand_off_(hand_off),
      order_(graph.nodes.size()),
      workers_(std::clamp<std::size_t>(workers, 1, std::max<std::size_t>(graph.nodes.size(), 1))),
      made_(graph.nodes.size()) {
  const auto distances = distances_to_end(graph, hand_off);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::stable_sort(order_, std::greater{}, [&](std::size_t op) { return distances[op]; });
}

double ListScheduler::first_start(std::size_t op, std::size_t worker) const {
  double ready = 0;
  for (const std::size_t before : graph_.nodes[op].after) {
    const Made& made = made_[before];
    if (made.run != runs_) continue;
    ready = std::max(ready, made.end + (made.worker == worker ? 0 : hand_off_));
  }
  // After all that has ended by then: among them is what it waits for.
  const auto& places = workers_[worker];
  auto next = std::ranges::upper_bound(places, ready, {}, &Place::end);
  double start = ready;
  for (; next != places.end() && next->start < start + graph_.nodes[op].cost; ++next) {
    start = std::max(start, next->end);
  }
  return start;
}

Assignment ListScheduler::run(std::span<const std::size_t> operators) {
  ++runs_;
  for (auto& places : workers_) places.clear();
  Assignment assignment;
  for (const std::size_t op : operators) {
    std::size_t best = 0;
    double start = std::numeric_limits<double>::infinity();
    for (std::size_t worker = 0; worker < workers_.size(); ++worker) {
      const double first = first_start(op, worker);
      if (first < start) {
        start = first;
        best = worker;
      }
      if (workers_[worker].empty()) break;  // others that are idle are like it
    }
    const double end = start + graph_.nodes[op].cost;
    auto& places = workers_[best];
    const auto next =
        std::ranges::find_if(std::ranges::upper_bound(places, start, {}, &Place::end), places.end(),
                             [&](const Place& place) { return place.start >= end; });
    places.insert(next, {start, end, op});
    made_[op] = {runs_, best, end};
    assignment.span = std::max(assignment.span, end);
  }
  for (const auto& places : workers_) {
    auto& run = assignment.workers.emplace_back();
    for (const Place& place : places) run.push_back(place.op);
  }
  drop_idle(assignment);
  return assignment;
}

Assignment assign_clusters(const WeightedGraph& graph, std::span<const std::size_t> operators,
                           std::size_t workers, double hand_off) {
  const WeightedGraph part = part_of(graph, operators);
  const auto distances = distances_to_end(part, hand_off);
  Assignment assignment;
  assignment.workers = bound_clusters(
      part, merge_clusters(distances, linear_clusters(part, distances)), workers, hand_off);
  assignment.span = span_of(part, assignment.workers, hand_off);
  for (auto& cluster : assignment.workers) {
    for (std::size_t& op : cluster) op = operators[op];
  }
  drop_idle(assignment);
  return assignment;
}

std::string name_unit(const WeightedGraph& graph, std::span<const std::size_t> operators,
                      std::string fallback) {
  std::string first;
  std::string last;
  for (const std::size_t op : operators) {
    const std::string& scope = graph.nodes[op].scope;
    if (first.empty()) first = scope;
    if (!scope.empty()) last = scope;
  }
  if (first.empty()) return fallback;
  return first == last ? first : first + " … " + last;
}

void add_phase(const WeightedGraph& graph, const Assignment& assignment,
               const std::function<std::string(std::size_t, std::size_t)>& fallback,
               Timetable& timetable) {
  const auto cuts = find_cuts(graph, assignment);
  Phase phase;
  for (std::size_t worker = 0; worker < assignment.workers.size(); ++worker) {
    const auto& operators = assignment.workers[worker];
    auto& turns = phase.workers.emplace_back();
    for (std::size_t begin = 0; begin < operators.size();) {
      std::size_t end = begin + 1;
      while (end < operators.size() && !cuts[worker][end]) ++end;
      add_unit(graph,
               {operators.begin() + static_cast<std::ptrdiff_t>(begin),
                operators.begin() + static_cast<std::ptrdiff_t>(end)},
               fallback(worker, turns.size()), timetable);
      turns.push_back({timetable.units.size() - 1, 0});
      begin = end;
    }
  }
  timetable.phases.push_back(std::move(phase));
}

void add_shared_phase(const WeightedGraph& graph, std::vector<std::size_t> operators,
                      std::string fallback, Timetable& timetable) {
  Phase phase{.workers = std::vector<std::vector<Turn>>(1), .all_threads = true};
  if (!operators.empty()) {
    add_unit(graph, std::move(operators), std::move(fallback), timetable);
    phase.workers[0].push_back({timetable.units.size() - 1, 0});
  }
  timetable.phases.push_back(std::move(phase));
}

}  // namespace pareto::schedules
