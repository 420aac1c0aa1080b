// A table of cells that a terminal and a page show alike.
#pragma once

#include <string>
#include <vector>

#include "client/report/report_writer.h"
#include "client/report/text_table.h"

namespace pareto::report {

struct CellRow {
  std::vector<std::string> cells{};  ///< one a column
  RowStyle style = RowStyle::kPlain;
  std::string note{};  ///< only a page shows it, below the first cell that is text
};

/// Columns that are empty in every row are not shown.
struct CellTable {
  std::vector<TextColumn> columns{};
  std::vector<CellRow> rows{};
};

/// Returns it for a terminal, as TextTable::render() does.
std::string cells_text(const CellTable& table, const ReportStyle& style);

/// Returns a table element, however wide it is. `title_id`: the id of the element that names it.
std::string cells_html(const CellTable& table, const std::string& title_id);

}  // namespace pareto::report
