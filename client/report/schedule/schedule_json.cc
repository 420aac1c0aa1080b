#include <nlohmann/json.hpp>

#include "client/report/schedule/schedule_writer.h"
#include "core/base/json_text.h"

namespace pareto::report::schedule {
namespace {

using Json = nlohmann::ordered_json;

Json facts_json(const GraphFacts& facts) {
  return {{"nodes", facts.nodes},
          {"clusters", facts.clusters},
          {"merged_clusters", facts.merged},
          {"speed_up_bound", facts.bound()}};
}

Json units_json(const schedules::ScheduleTrace& trace) {
  Json units = Json::array();
  const std::vector<UnitFacts> all = unit_facts(trace);
  for (std::size_t i = 0; i < all.size(); ++i) {
    units.push_back({{"name", all[i].name},
                     {"tags", trace.timetable.units[i].tags},
                     {"operators", trace.timetable.units[i].operators},
                     {"workers", all[i].workers},
                     {"one_thread_ms", all[i].cost / 1e6},
                     {"measured_ms", to_milliseconds(all[i].time)}});
  }
  return units;
}

Json nodes_json(const schedules::ScheduleTrace& trace) {
  Json nodes = Json::array();
  const std::vector<std::size_t> units = units_of_operators(trace);
  for (std::size_t i = 0; i < units.size(); ++i) {
    const schedules::WeightedNode& node = trace.graph.nodes[i];
    nodes.push_back({{"kind", node.kind},
                     {"module", node.scope},
                     {"after", node.after},
                     {"unit", units[i]},
                     {"one_thread_ms", node.cost / 1e6},
                     {"output_bytes", node.output_bytes}});
    if (node.cost_all > 0) nodes.back()["all_threads_ms"] = node.cost_all / 1e6;
  }
  return nodes;
}

Json turns_json(const schedules::ScheduleTrace& trace) {
  Json turns = Json::array();
  for (const schedules::TurnTime& turn : trace.turns) {
    turns.push_back({{"worker", turn.worker},
                     {"unit", turn.unit},
                     {"part", turn.part},
                     {"begin_ms", to_milliseconds(turn.begin)},
                     {"end_ms", to_milliseconds(turn.end)}});
  }
  return turns;
}

}  // namespace

std::string write_schedule_json(const ScheduleReport& report) {
  const schedules::ScheduleTrace& trace = report.trace;
  const GraphFacts run = facts_of(trace.graph);
  Json json{{"model", report.model},         {"batch", report.batch},
            {"schedule", report.schedule},   {"engine", report.engine},
            {"precision", report.precision}, {"threads", report.threads}};
  if (!report.reason.empty()) json["schedule_reason"] = report.reason;
  if (report.calls) json["calls"] = facts_json(*report.calls);
  json["operators"] = facts_json(run);
  json["operators"]["one_thread_ms"] = run.total / 1e6;
  json["operators"]["critical_path_ms"] = run.critical_path / 1e6;
  json["parts"] = trace.timetable.parts;
  json["phases"] = trace.timetable.phases.size();
  json["workers"] = Json::array();
  for (const WorkerShare& one : worker_shares(report)) {
    json["workers"].push_back(
        {{"turns", one.turns}, {"busy_ms", to_milliseconds(one.busy)}, {"share", one.share}});
  }
  json["predicted_ms"] = trace.predicted / 1e6;
  json["measured_ms"] = to_milliseconds(trace.measured);
  json["sequential_one_thread_ms"] = to_milliseconds(trace.sequential_one);
  json["sequential_all_threads_ms"] = to_milliseconds(trace.sequential_all);
  json["speed_up_over_one_thread"] = report.gain_over(trace.sequential_one);
  json["speed_up_over_all_threads"] = report.gain_over(trace.sequential_all);
  json["peak_bytes"] = trace.peak_bytes;
  json["nodes"] = nodes_json(trace);
  json["units"] = units_json(trace);
  json["turns"] = turns_json(trace);
  return dump(json, 2) + "\n";
}

}  // namespace pareto::report::schedule
