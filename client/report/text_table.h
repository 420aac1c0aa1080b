// A table for a terminal: aligned, as wide as there is room.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/report/report_writer.h"

namespace pareto::report {

enum class Align { kLeft, kRight };
enum class RowStyle { kPlain, kStrong, kFaint, kWarning, kBad };

struct TextColumn {
  std::string title;
  Align align = Align::kLeft;
  /// The number of the group in which a column is left out. If the table is too wide, all columns
  /// with the highest number go together, then those with the next; 0 = always shown. What says
  /// nothing without another column has its number, or a higher one.
  int dispensable = 0;
  /// Name in the line that lists columns which were left out; empty: the title.
  std::string name{};
  /// The column that it says nothing next to where both have the same in every row: it goes first
  /// then.
  std::optional<std::size_t> may_repeat{};
  /// True if the column says nothing when all rows have the same value: it goes next, and a line
  /// says what it has.
  bool may_be_alike = false;
};

/// Rows of cells, rendered at once. Text that still does not fit is cut in the widest left-aligned
/// column, with an ellipsis.
class TextTable {
 public:
  explicit TextTable(std::vector<TextColumn> columns) : columns_(std::move(columns)) {}

  /// Adds a row of one cell a column.
  void add(std::vector<std::string> cells, RowStyle style = RowStyle::kPlain);
  /// Removes a column if it has in every row what an earlier one, `other`, has.
  void remove_if_repeated(std::size_t column, std::size_t other);
  /// Removes a column that has nothing in any row.
  void remove_if_empty(std::size_t column);
  /// Returns the title line and the rows, each ended by a newline; no line ends in blanks. If
  /// columns had to go, a last line names them, and one before it those that said nothing.
  /// `more_room` says in that line how a reader gets more room.
  std::string render(const ReportStyle& style,
                     std::string_view more_room = "widen the terminal, or add | less -S") const;

 private:
  struct Row {
    std::vector<std::string> cells;
    RowStyle style;
  };
  void remove(std::size_t column);
  bool repeats(std::size_t column) const;
  bool is_alike(std::size_t column) const;

  std::vector<TextColumn> columns_;
  std::vector<Row> rows_;
};

/// Returns `text` in the colour of a style, if colours are wanted.
std::string styled(std::string_view text, RowStyle row_style, const ReportStyle& style);

/// Returns a line in bold, if colours are wanted, and a newline.
std::string heading(const std::string& text, const ReportStyle& style);

/// Returns a text in lines that fit, each ended by a newline; all but the first begin with `indent`
/// blanks. Each line has the style by itself: if later lines are cut off, the colour still ends.
std::string paragraph(std::string_view text, RowStyle row_style, const ReportStyle& style,
                      std::size_t indent = 0);

}  // namespace pareto::report
