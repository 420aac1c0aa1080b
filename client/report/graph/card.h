// Cards: the lines of text that stand for an operator or a module, and the room that they take.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/report/graph/graph_picture.h"

namespace pareto::report::graph {

struct CardLine {
  enum class Style { kTitle, kFaint, kValue, kWeight };
  Style style = Style::kValue;
  std::string text{};
  std::string right{};                    ///< text at the right edge: "784 KiB"
  std::optional<WeightRow::Kind> mark{};  ///< dot in front
};

struct Card {
  std::vector<CardLine> lines;
  double width = 0;  ///< pixels
  double height = 0;
  bool is_pill = false;  ///< inputs, outputs, and operators that make no tensors: one line
};

inline constexpr double kCardPadding = 9;
inline constexpr double kCardStripe = 5;  ///< width of the stage's stripe at the left edge
/// Room of a line, and the size of its letters.
double line_height(CardLine::Style style);
double letter_height(CardLine::Style style);

/// Lays out a card's lines. `heat`: the figure that stands next to the title.
Card card_of(const PictureNode& node, Heat heat);

/// Returns about the width of a text in letters of that height, in pixels, of common sans-serif
/// letters.
double text_width(std::string_view text, double letter);
/// Returns a text of at most `most` bytes, an ellipsis in place of what is left out.
std::string shortened(const std::string& text, std::size_t most);

}  // namespace pareto::report::graph
