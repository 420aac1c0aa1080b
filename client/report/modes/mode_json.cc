#include <nlohmann/json.hpp>

#include "client/report/modes/mode_writer.h"
#include "core/base/json_text.h"

namespace pareto::report {

std::string write_mode_json(const ModeReport& report) {
  using Document = nlohmann::ordered_json;
  const modes::ModeBenchResult& result = report.result;
  Document rows = Document::array();
  for (const modes::ModeFigures& row : result.rows) {
    rows.push_back(
        {{"work", row.work},
         {"mode", row.mode},
         {"engine", row.engine},
         {"fallback", row.reason},
         {"prepare_ms", to_milliseconds(row.prepare)},
         {"best_ms", to_milliseconds(row.best)},
         {"median_ms", to_milliseconds(row.median)},
         {"over_direct", row.over_direct},
         {"paid_after_requests", row.paid_after ? Document(*row.paid_after) : Document()},
         {"held_bytes", row.held_bytes},
         {"peak_bytes", result.is_peak_known ? Document(row.peak_bytes) : Document()}});
  }
  const Document json{
      {"model", report.model},   {"split", report.cut},
      {"batch", report.batch},   {"threads", report.threads},
      {"rounds", result.rounds}, {"time", result.by_processor ? "processor" : "clock"},
      {"rows", std::move(rows)}};
  return dump(json, 2) + "\n";
}

}  // namespace pareto::report
