#include <algorithm>
#include <cmath>

#include "client/report/modes/mode_writer.h"
#include "client/report/plan_text.h"
#include "client/report/text_table.h"
#include "core/base/counted.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

std::string paid_text(const modes::ModeFigures& row) {
  if (row.mode != "optimised") return "-";
  return row.paid_after ? fmt::format("{:.0f}", std::ceil(*row.paid_after)) : "never";
}

}  // namespace

std::string write_mode_table(const ModeReport& report, const ReportStyle& style) {
  const modes::ModeBenchResult& result = report.result;
  std::string text = heading(fmt::format("{} cut at {}, batch {}, {}", report.model, report.cut,
                                         report.batch, counted(report.threads, "thread")),
                             style);
  TextTable table({{"work"},
                   {"mode"},
                   {"engine"},
                   {"prepare ms", Align::kRight},
                   {"best ms", Align::kRight},
                   {"median ms", Align::kRight},
                   {"over direct", Align::kRight},
                   {"paid after", Align::kRight},
                   {"held", Align::kRight},
                   {"peak", Align::kRight}});
  for (const modes::ModeFigures& row : result.rows) {
    table.add({row.work, row.mode, row.engine, format_figure(to_milliseconds(row.prepare)),
               format_figure(to_milliseconds(row.best)), format_figure(to_milliseconds(row.median)),
               fmt::format("{:.3f}", row.over_direct), paid_text(row), format_bytes(row.held_bytes),
               result.is_peak_known ? format_bytes(row.peak_bytes) : "-"});
  }
  text += table.render(style);
  text += fmt::format(
      "\n{} of each in turns, {}; over direct: of the best; paid after: requests until the time "
      "that optimising takes is saved; peak: what one request adds to resident memory\n",
      counted(static_cast<std::size_t>(result.rounds), "request"),
      result.by_processor ? "processor time of the thread" : "by the clock");
  for (const modes::ModeFigures& row : result.rows) {
    if (!row.reason.empty()) {
      text += fmt::format("{}, {}: {}\n", row.work, row.mode, row.reason);
    }
  }
  return text;
}

}  // namespace pareto::report
