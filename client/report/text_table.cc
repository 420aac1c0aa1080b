#include "client/report/text_table.h"

#include <algorithm>
#include <numeric>

#include "core/base/printable.h"
#include "core/base/text.h"

namespace pareto::report {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kNarrowest = 12;

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Returns the first `width` code points; an ellipsis stands for the rest.
std::string shortened(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  std::size_t end = 0;
  for (std::size_t taken = 0; taken + 1 < width && end < text.size(); ++taken) {
    ++end;
    while (end < text.size() && is_continuation(text[end])) ++end;
  }
  return text.substr(0, end) + "…";
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string blanks(width - std::min(width, display_width(text)), ' ');
  return align == Align::kLeft ? text + blanks : blanks + text;
}

}  // namespace

std::string styled(std::string_view text, RowStyle row_style, const ReportStyle& style) {
  if (!style.colour || row_style == RowStyle::kPlain) return std::string(text);
  const char* code = row_style == RowStyle::kStrong    ? "\x1b[1;32m"
                     : row_style == RowStyle::kFaint   ? "\x1b[2m"
                     : row_style == RowStyle::kWarning ? "\x1b[33m"
                                                       : "\x1b[31m";
  return code + std::string(text) + "\x1b[0m";
}

std::string heading(const std::string& text, const ReportStyle& style) {
  return style.colour ? "\x1b[1m" + text + "\x1b[0m\n" : text + "\n";
}

std::string paragraph(std::string_view text, RowStyle row_style, const ReportStyle& style,
                      std::size_t indent) {
  const auto columns = static_cast<std::size_t>(std::max(style.width, 0));
  std::string lines;
  for (const std::string& line : wrapped(text, columns - std::min(columns, indent))) {
    const std::string blanks(lines.empty() ? 0 : indent, ' ');
    lines += styled(blanks + line, row_style, style) + "\n";
  }
  return lines;
}

void TextTable::add(std::vector<std::string> cells, RowStyle style) {
  cells.resize(columns_.size());
  // Names come from files and other machines.
  for (std::string& cell : cells) {
    if (!is_printable(cell)) cell = printable(cell, cell.size());
  }
  rows_.push_back({std::move(cells), style});
}

void TextTable::remove_if_repeated(std::size_t column, std::size_t other) {
  const auto differs = [&](const Row& row) { return row.cells[column] != row.cells[other]; };
  if (!rows_.empty() && std::ranges::none_of(rows_, differs)) remove(column);
}

void TextTable::remove_if_empty(std::size_t column) {
  const auto is_empty = [&](const Row& row) { return row.cells[column].empty(); };
  if (std::ranges::all_of(rows_, is_empty)) remove(column);
}

void TextTable::remove(std::size_t column) {
  const auto at = static_cast<std::ptrdiff_t>(column);
  columns_.erase(columns_.begin() + at);
  for (TextColumn& one : columns_) {
    if (one.may_repeat && *one.may_repeat > column) --*one.may_repeat;
  }
  for (Row& row : rows_) row.cells.erase(row.cells.begin() + at);
}

/// Returns whether it has in every row what another column has.
bool TextTable::repeats(std::size_t column) const {
  const auto& other = columns_[column].may_repeat;
  return other && std::ranges::all_of(rows_, [&](const Row& row) {
           return row.cells[column] == row.cells[*other];
         });
}

/// Returns whether it has the same in every row, of two at least.
bool TextTable::is_alike(std::size_t column) const {
  return columns_[column].may_be_alike && rows_.size() > 1 &&
         std::ranges::all_of(rows_, [&](const Row& row) {
           return row.cells[column] == rows_.front().cells[column];
         });
}

std::string TextTable::render(const ReportStyle& style, std::string_view more_room) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const Row& row : rows_) width = std::max(width, display_width(row.cells[i]));
    widths.push_back(width);
  }
  std::vector<std::size_t> shown(columns_.size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  const auto total = [&] {
    std::size_t sum = shown.empty() ? 0 : kGap * (shown.size() - 1);
    for (const std::size_t i : shown) sum += widths[i];
    return sum;
  };
  const auto limit = static_cast<std::size_t>(std::max(style.width, 0));
  const auto called = [&](std::size_t i) {
    return columns_[i].name.empty() ? columns_[i].title : columns_[i].name;
  };
  std::vector<std::string> said;  // of columns that say nothing
  const auto leave_out = [&](auto says_nothing, auto in_words) {
    if (limit == 0 || total() <= limit) return;
    std::erase_if(shown, [&](std::size_t i) {
      if (!says_nothing(i)) return false;
      said.push_back(in_words(i));
      return true;
    });
  };
  leave_out([&](std::size_t i) { return repeats(i); },
            [&](std::size_t i) {
              return fmt::format("{} (= {})", called(i), called(*columns_[i].may_repeat));
            });
  leave_out([&](std::size_t i) { return is_alike(i); },
            [&](std::size_t i) {
              return fmt::format("{} ({} in every row)", called(i), rows_.front().cells[i]);
            });
  const std::vector<std::size_t> telling = shown;
  while (limit > 0 && total() > limit) {
    const auto least =
        std::ranges::max_element(shown, {}, [&](std::size_t i) { return columns_[i].dispensable; });
    const int group = columns_[*least].dispensable;
    if (group == 0) break;
    std::erase_if(shown, [&](std::size_t i) { return columns_[i].dispensable == group; });
  }
  if (limit > 0 && total() > limit) {
    const auto widest = std::ranges::max_element(shown, {}, [&](std::size_t i) {
      return columns_[i].align == Align::kLeft ? widths[i] : 0;
    });
    const std::size_t excess = total() - limit;
    widths[*widest] = std::max(kNarrowest, widths[*widest] - std::min(widths[*widest], excess));
  }

  const auto line = [&](auto cell_of) {
    std::string text;
    for (const std::size_t i : shown) {
      if (!text.empty()) text += std::string(kGap, ' ');
      text += padded(shortened(cell_of(i), widths[i]), widths[i], columns_[i].align);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::string text =
      styled(line([&](std::size_t i) { return columns_[i].title; }), RowStyle::kFaint, style) +
      "\n";
  for (const Row& row : rows_) {
    text += styled(line([&](std::size_t i) { return row.cells[i]; }), row.style, style) + "\n";
  }
  std::vector<std::string> left_out;
  for (const std::size_t i : telling) {
    if (std::ranges::count(shown, i) == 0) left_out.push_back(called(i));
  }
  const auto add_line = [&](const char* what, const std::vector<std::string>& columns,
                            const std::string& remedy) {
    if (columns.empty()) return;
    text += paragraph(what + join(columns) + remedy, RowStyle::kFaint, style);
  };
  add_line("not shown: ", said, "");
  add_line("no room for: ", left_out, more_room.empty() ? "" : fmt::format(" ({})", more_room));
  return text;
}

}  // namespace pareto::report
