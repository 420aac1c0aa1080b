#include "client/report/schedule/schedule_colours.h"
#include "client/report/schedule/schedule_writer.h"
#include "core/base/printable.h"

namespace pareto::report::schedule {
namespace {

/// Returns the text as a string of the DOT language; "\n" stays a line break.
std::string quoted_label(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return quoted + '"';
}

}  // namespace

std::string schedule_dot(const ScheduleReport& report) {
  const schedules::ScheduleTrace& trace = report.trace;
  const std::vector<UnitFacts> units = unit_facts(trace);
  std::string text = fmt::format(
      "digraph schedule {{\n"
      "  label={};\n"
      "  node [shape=box, style=filled, fillcolor=white, fontname=\"sans-serif\"];\n",
      quoted_label(fmt::format("{} at batch {}, schedule {}", printable(report.model), report.batch,
                               printable(report.schedule))));
  for (std::size_t i = 0; i < units.size(); ++i) {
    const UnitFacts& unit = units[i];
    const std::size_t worker = unit.workers.empty() ? 0 : unit.workers.front();
    text += fmt::format(
        "  subgraph cluster_{} {{\n    label={};\n    style=filled;\n    fillcolor=\"{}\";\n", i,
        quoted_label(fmt::format("{}: {}\n{:.3f} ms on worker {}{}", i, unit.name,
                                 to_milliseconds(unit.time), workers_text(unit),
                                 unit.tags.empty() ? "" : "\n" + unit.tags)),
        pale_colour(worker));
    for (const std::size_t number : trace.timetable.units[i].operators) {
      const schedules::WeightedNode& node = trace.graph.nodes[number];
      text += fmt::format(
          "    n{} [label={}];\n", number,
          quoted_label(fmt::format("{}\n{:.3f} ms", operator_title(node), node.cost / 1e6)));
    }
    text += "  }\n";
  }
  for (std::size_t i = 0; i < trace.graph.nodes.size(); ++i) {
    for (const std::size_t before : trace.graph.nodes[i].after) {
      text += fmt::format("  n{} -> n{};\n", before, i);
    }
  }
  return text + "}\n";
}

}  // namespace pareto::report::schedule
