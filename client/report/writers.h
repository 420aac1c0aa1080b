// The factories that builtin_writers.cc lists.
#pragma once

#include <memory>

#include "client/report/report_writer.h"

namespace pareto::report {

std::unique_ptr<ReportWriter>
make_table_writer();  ///< a table for people at a terminal: the front, then everything
std::unique_ptr<ReportWriter>
make_json_writer();  ///< one document, schema tests/golden/sweep.schema.json
std::unique_ptr<ReportWriter> make_csv_writer();   ///< one line a trial, RFC 4180
std::unique_ptr<ReportWriter> make_html_writer();  ///< one offline page

}  // namespace pareto::report
