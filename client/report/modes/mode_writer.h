// Writes what the modes of a model take, for people and for programs.
#pragma once

#include <cstdint>
#include <string>

#include "client/report/report_writer.h"
#include "coordinator/modes/mode_bench.h"

namespace pareto::report {

struct ModeReport {
  std::string model;
  std::string cut;  ///< its name
  std::int64_t batch = 1;
  int threads = 1;
  modes::ModeBenchResult result;
};

/// Writes a table of all rows, and a line on how they were measured.
std::string write_mode_table(const ModeReport& report, const ReportStyle& style);
/// Writes one document; its schema: tests/golden/modes.schema.json.
std::string write_mode_json(const ModeReport& report);

}  // namespace pareto::report
