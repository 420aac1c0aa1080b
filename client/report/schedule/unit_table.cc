#include "client/report/schedule/unit_table.h"

namespace pareto::report::schedule {

CellTable unit_table(const ScheduleReport& report) {
  CellTable table{.columns = {{"unit", Align::kRight},
                              {"name", Align::kLeft},
                              {"operators", Align::kRight, 2},
                              {"tags", Align::kLeft, 1},
                              {"workers", Align::kLeft},
                              {"one thread ms", Align::kRight},
                              {"measured ms", Align::kRight}}};
  for (const UnitFacts& unit : unit_facts(report.trace)) {
    table.rows.push_back(
        {.cells = {std::to_string(table.rows.size()), unit.name, std::to_string(unit.operators),
                   unit.tags, workers_text(unit), fmt::format("{:.3f}", unit.cost / 1e6),
                   fmt::format("{:.3f}", to_milliseconds(unit.time))}});
  }
  return table;
}

}  // namespace pareto::report::schedule
