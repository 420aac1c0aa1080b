#include "client/report/graph/card.h"

#include <algorithm>

#include "client/report/short_count.h"
#include "core/base/counted.h"
#include "core/base/printable.h"
#include "core/base/text.h"

namespace pareto::report::graph {
namespace {

constexpr double kNarrowest = 120;
constexpr double kBetween = 14;  ///< least room between a text and the one at the right edge
constexpr std::size_t kMostCharacters = 42;
constexpr std::size_t kMostWeights = 5;

/// Returns the width of a character as a share of the letters' height.
double share_of(char c) {
  constexpr std::string_view kNarrow = "iljtf.,:;'|!()[] ";
  constexpr std::string_view kWide = "mwMW@%";
  if (kNarrow.find(c) != std::string_view::npos) return 0.36;
  if (kWide.find(c) != std::string_view::npos) return 0.9;
  if (c >= 'A' && c <= 'Z') return 0.68;
  return 0.59;
}

/// Returns a title and a figure for the reader of a card.
CardLine title_line(const PictureNode& node, Heat heat) {
  CardLine line{.style = CardLine::Style::kTitle, .text = shortened(node.title, kMostCharacters)};
  if (heat != Heat::kNone && heat != Heat::kActivations && heat_of(node, heat) > 0) {
    line.right = heat_text(heat, heat_of(node, heat));
  }
  return line;
}

std::string makes_text(const PictureNode& node) {
  if (node.makes.empty()) return "";
  std::string text = shortened(node.makes.front(), kMostCharacters);
  if (node.makes.size() > 1) text += " and " + counted(node.makes.size() - 1, "other");
  return text;
}

/// An operator's weights one by one, a module's as sums.
void add_weights(const PictureNode& node, std::vector<CardLine>& lines) {
  const auto add = [&](std::string text, std::string right, WeightRow::Kind kind) {
    lines.push_back({.style = CardLine::Style::kWeight,
                     .text = std::move(text),
                     .right = std::move(right),
                     .mark = kind});
  };
  if (node.kind == PictureNode::Kind::kModule) {
    for (const auto& [kind, word] : {std::pair{WeightRow::Kind::kTrainable, "trainable"},
                                     {WeightRow::Kind::kFrozen, "frozen"},
                                     {WeightRow::Kind::kBuffer, "in buffers"}}) {
      const auto count = static_cast<double>(node.elements(kind));
      if (count > 0) add(short_count(count) + " " + word, "", kind);
    }
    return;
  }
  for (std::size_t i = 0; i < node.weights.size(); ++i) {
    const WeightRow& row = node.weights[i];
    const std::size_t left = node.weights.size() - i;
    if (i + 1 == kMostWeights && left > 1) {
      lines.push_back({.style = CardLine::Style::kFaint, .text = counted(left, "more weight")});
      return;
    }
    add(shortened(row.name, kMostCharacters), row.shape, row.kind);
  }
}

}  // namespace

double letter_height(CardLine::Style style) {
  switch (style) {
    case CardLine::Style::kTitle:
      return 13;
    case CardLine::Style::kValue:
      return 11.5;
    case CardLine::Style::kFaint:
    case CardLine::Style::kWeight:
      break;
  }
  return 10.5;
}

double line_height(CardLine::Style style) {
  return style == CardLine::Style::kTitle ? 17 : style == CardLine::Style::kValue ? 16 : 14;
}

Card card_of(const PictureNode& node, Heat heat) {
  Card card;
  const bool is_end =
      node.kind == PictureNode::Kind::kInput || node.kind == PictureNode::Kind::kOutput;
  card.is_pill = is_end || (node.kind == PictureNode::Kind::kOperator && !node.has_tensors);
  card.lines.push_back(title_line(node, heat));
  if (!is_end && !card.is_pill) {
    const std::string path = shortened(node.inner_path, kMostCharacters);
    const std::string& contents = node.contents;
    if (!path.empty() && node.kind == PictureNode::Kind::kOperator) {
      card.lines.push_back({.style = CardLine::Style::kFaint, .text = path});
    }
    if (!contents.empty()) {
      card.lines.push_back(
          {.style = CardLine::Style::kFaint, .text = shortened(contents, kMostCharacters)});
    }
  }
  if (!card.is_pill || is_end) {
    const std::string makes = makes_text(node);
    if (!makes.empty()) {
      card.lines.push_back({.style = CardLine::Style::kValue,
                            .text = makes,
                            .right = format_bytes(node.activation_bytes)});
    }
    add_weights(node, card.lines);
  }
  for (CardLine& line : card.lines) {
    // Names are of files.
    line.text = printable(line.text);
    const double letter = letter_height(line.style);
    // Bold letters are wider.
    const double bold = line.style == CardLine::Style::kTitle ? 1.12 : 1;
    double width = text_width(line.text, letter) * bold + (line.mark ? 13 : 0);
    if (!line.right.empty()) width += kBetween + text_width(line.right, letter);
    card.width = std::max(card.width, width + 2 * kCardPadding + kCardStripe);
    card.height += line_height(line.style);
  }
  card.width = card.is_pill ? card.width + 10 : std::max(card.width, kNarrowest);
  card.height += card.is_pill && !is_end ? 5 : 10;
  return card;
}

double text_width(std::string_view text, double letter) {
  double width = 0;
  for (const char c : text) {
    // Later bytes of a character take no room.
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) width += share_of(c) * letter;
  }
  return width;
}

std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

}  // namespace pareto::report::graph
