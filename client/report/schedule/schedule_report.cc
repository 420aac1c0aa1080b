#include "client/report/schedule/schedule_report.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/base/printable.h"
#include "core/base/text.h"
#include "runtime/schedules/clusters.h"

namespace pareto::report::schedule {

GraphFacts facts_of(const schedules::WeightedGraph& graph) {
  const std::vector<double> distances = schedules::distances_to_end(graph, 0);
  schedules::Clusters clusters = schedules::linear_clusters(graph, distances);
  GraphFacts facts{.nodes = graph.nodes.size(), .clusters = clusters.size()};
  facts.merged = schedules::merge_clusters(distances, std::move(clusters)).size();
  facts.total = schedules::total_cost(graph);
  facts.critical_path = schedules::critical_path(graph);
  return facts;
}

double ScheduleReport::gain_over(Nanoseconds time) const {
  if (trace.measured.count() <= 0) return 0;
  return to_nanoseconds(time) / to_nanoseconds(trace.measured);
}

Nanoseconds ScheduleReport::begin() const {
  if (from_zero || trace.turns.empty()) return {};
  return std::ranges::min_element(trace.turns, {}, &schedules::TurnTime::begin)->begin;
}

Nanoseconds ScheduleReport::span() const {
  if (trace.turns.empty()) return {};
  return std::ranges::max_element(trace.turns, {}, &schedules::TurnTime::end)->end - begin();
}

std::vector<bool> shared_turns(const schedules::ScheduleTrace& trace) {
  std::set<std::pair<std::size_t, std::size_t>> shared;
  for (const schedules::Phase& phase : trace.timetable.phases) {
    if (!phase.all_threads) continue;
    for (const std::vector<schedules::Turn>& turns : phase.workers) {
      for (const schedules::Turn& turn : turns) shared.emplace(turn.unit, turn.part);
    }
  }
  std::vector<bool> all;
  for (const schedules::TurnTime& turn : trace.turns) {
    all.push_back(shared.contains({turn.unit, turn.part}));
  }
  return all;
}

std::string ScheduleReport::worker_name(std::size_t worker) const {
  const bool has_name = worker < worker_names.size() && !worker_names[worker].empty();
  return has_name ? worker_names[worker] : fmt::format("worker {}", worker);
}

std::vector<WorkerShare> worker_shares(const ScheduleReport& report) {
  const std::vector<bool> shared = shared_turns(report.trace);
  std::size_t count = report.trace.timetable.workers();
  if (std::ranges::find(shared, true) != shared.end()) {
    count = std::max(count, static_cast<std::size_t>(report.threads));
  }
  std::vector<WorkerShare> shares(count);
  for (std::size_t i = 0; i < report.trace.turns.size(); ++i) {
    const schedules::TurnTime& turn = report.trace.turns[i];
    for (std::size_t worker = 0; worker < count; ++worker) {
      if (worker != turn.worker && !shared[i]) continue;
      ++shares[worker].turns;
      shares[worker].busy += turn.end - turn.begin;
    }
  }
  const double span = to_nanoseconds(report.span());
  for (WorkerShare& one : shares) {
    if (span > 0) one.share = to_nanoseconds(one.busy) / span;
  }
  return shares;
}

std::vector<UnitFacts> unit_facts(const schedules::ScheduleTrace& trace) {
  std::vector<UnitFacts> all;
  for (const schedules::Unit& unit : trace.timetable.units) {
    UnitFacts& facts = all.emplace_back();
    facts.name = printable(unit.name);
    facts.tags = printable(join(unit.tags));
    facts.operators = unit.operators.size();
    for (const std::size_t number : unit.operators) facts.cost += trace.graph.nodes[number].cost;
    if (facts.name.empty() && !unit.operators.empty()) {
      facts.name = operator_title(trace.graph.nodes[unit.operators.front()]);
    }
  }
  const std::vector<bool> shared = shared_turns(trace);
  for (std::size_t i = 0; i < trace.turns.size(); ++i) {
    const schedules::TurnTime& turn = trace.turns[i];
    UnitFacts& facts = all[turn.unit];
    facts.shared = facts.shared || shared[i];
    facts.time += turn.end - turn.begin;
    const auto place = std::ranges::lower_bound(facts.workers, turn.worker);
    if (place == facts.workers.end() || *place != turn.worker) {
      facts.workers.insert(place, turn.worker);
    }
  }
  return all;
}

std::vector<std::size_t> units_of_operators(const schedules::ScheduleTrace& trace) {
  std::vector<std::size_t> units(trace.graph.nodes.size());
  for (std::size_t unit = 0; unit < trace.timetable.units.size(); ++unit) {
    for (const std::size_t number : trace.timetable.units[unit].operators) units[number] = unit;
  }
  return units;
}

std::string workers_text(const UnitFacts& unit) {
  return unit.shared ? "all" : fmt::format("{}", fmt::join(unit.workers, ", "));
}

std::string operator_title(const schedules::WeightedNode& node) {
  const std::size_t colon = node.kind.rfind(':');
  std::string title = node.kind.substr(colon == std::string::npos ? 0 : colon + 1);
  if (!node.scope.empty()) title += " " + node.scope;
  return printable(title);
}

}  // namespace pareto::report::schedule
