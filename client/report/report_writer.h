// A stored run as something to look at. A plug: one file that implements ReportWriter, its factory
// in writers.h, one line in builtin_writers.cc.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/results/record.h"
#include "core/base/error.h"

namespace pareto::report {

/// Abilities of the place at which a report is shown.
struct ReportStyle {
  bool colour = false;  ///< a terminal's escape sequences
  int width = 0;        ///< columns of a terminal; 0 = no limit
};

/// One format of reports.
///
/// Threads: any; writers have no state.
class ReportWriter {
 public:
  virtual ~ReportWriter() = default;
  virtual std::string_view name() const = 0;  ///< "table", "json", "csv", "html": `export --format`
  virtual std::string_view summary() const = 0;  ///< half a line for help texts
  /// Returns the whole text. The run may be unfinished, and hold trials that failed or were not
  /// measured.
  virtual Expected<std::string> write(const results::RunRecord& run,
                                      const ReportStyle& style) const = 0;
};

std::vector<std::unique_ptr<ReportWriter>> builtin_writers();
/// Makes the writer of that name. Fails: kNotFound with the names there are.
Expected<std::unique_ptr<ReportWriter>> make_writer(std::string_view name);

}  // namespace pareto::report
