// Printing a run the way every command does.
#pragma once

#include <filesystem>
#include <string>

#include "client/command.h"
#include "client/report/report_writer.h"
#include "coordinator/results/record.h"
#include "core/base/error.h"

namespace pareto::client::commands {

/// Returns the style for stdout: colour and width if it is a terminal, neither elsewhere.
report::ReportStyle style_of(const Context& context);

/// Prints with the writer of that name ("table", "json", "csv").
Expected<> print_run(Context& context, const results::RunRecord& run, const std::string& writer);

/// Writes the HTML report and says where.
Expected<> write_report(Context& context, const results::RunRecord& run,
                        const std::filesystem::path& path);

}  // namespace pareto::client::commands
