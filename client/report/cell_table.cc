#include "client/report/cell_table.h"

#include <algorithm>

#include "client/report/html_text.h"

namespace pareto::report {
namespace {

std::string_view cell_class(const TextColumn& column) {
  return column.align == Align::kLeft ? " class=\"text\"" : "";
}

std::string_view row_class(RowStyle style) {
  switch (style) {
    case RowStyle::kStrong:
      return " class=\"strong\"";
    case RowStyle::kBad:
      return " class=\"bad\"";
    case RowStyle::kPlain:
    case RowStyle::kFaint:
    case RowStyle::kWarning:
      break;
  }
  return "";
}

bool has_nothing(const CellTable& table, std::size_t column) {
  return !table.rows.empty() && std::ranges::all_of(table.rows, [&](const CellRow& row) {
    return row.cells[column].empty();
  });
}

}  // namespace

std::string cells_text(const CellTable& table, const ReportStyle& style) {
  TextTable text(table.columns);
  for (const CellRow& row : table.rows) text.add(row.cells, row.style);
  for (std::size_t i = table.columns.size(); i-- > 0;) {
    if (has_nothing(table, i)) text.remove_if_empty(i);
  }
  return text.render(style);
}

std::string cells_html(const CellTable& table, const std::string& title_id) {
  std::string html =
      fmt::format("<table class=\"plain\" aria-labelledby=\"{}\"><thead><tr>", title_id);
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (has_nothing(table, i)) continue;
    shown.push_back(i);
    const TextColumn& column = table.columns[i];
    html += fmt::format("<th{}>{}</th>", cell_class(column), html_escaped(column.title));
  }
  html += "</tr></thead><tbody>\n";
  const auto is_text = [](const TextColumn& column) { return column.align == Align::kLeft; };
  const auto noted = static_cast<std::size_t>(std::ranges::find_if(table.columns, is_text) -
                                              table.columns.begin());
  for (const CellRow& row : table.rows) {
    html += fmt::format("<tr{}>", row_class(row.style));
    for (const std::size_t i : shown) {
      const std::string note = i == noted && !row.note.empty()
                                   ? fmt::format("<small>{}</small>", html_escaped(row.note))
                                   : "";
      html += fmt::format("<td{}>{}{}</td>", cell_class(table.columns[i]),
                          html_escaped(row.cells[i]), note);
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table>";
}

}  // namespace pareto::report
