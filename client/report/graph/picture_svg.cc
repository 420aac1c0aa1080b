#include "client/report/graph/picture_svg.h"

#include <algorithm>
#include <cmath>

#include "client/report/graph/picture_writer.h"
#include "client/report/html_text.h"
#include "client/report/schedule/schedule_colours.h"
#include "client/report/short_count.h"
#include "core/base/counted.h"
#include "core/base/printable.h"
#include "core/base/text.h"

namespace pareto::report::graph {
namespace {

constexpr double kMargin = 20;
constexpr double kLegendRow = 22;
constexpr double kHeadHeight = 74;
constexpr double kNarrowestDrawing = 620;
constexpr double kMostLetters = 12;       ///< height of the legend's letters
constexpr double kClusterLetters = 11.6;  ///< bold letters of 11 pixels are as wide

/// Returns a width of line for a tensor: thicker the larger it is, from 64 KiB to some 16 MiB.
double line_width(std::uint64_t bytes) {
  const double doublings = std::log2(static_cast<double>(bytes) / 65536 + 1);
  return std::clamp(1 + 0.35 * doublings, 1.0, 4.0);
}

class Scene {
 public:
  Scene(const GraphPicture& picture, const PictureLayout& layout, Heat heat)
      : picture_(picture), layout_(layout), heat_(heat), largest_(largest_heat(picture, heat)) {}

  std::string draw() {
    for (std::size_t i = 0; i < picture_.clusters.size(); ++i) add_cluster(i);
    for (std::size_t i = 0; i < picture_.edges.size(); ++i) add_edge(i);
    for (std::size_t i = 0; i < picture_.nodes.size(); ++i) add_card(i);
    for (std::size_t i = 0; i < picture_.clusters.size(); ++i) add_cluster_title(i);
    for (std::size_t i = 0; i < picture_.edges.size(); ++i) add_edge_text(i);
    return std::move(text_);
  }

 private:
  void add_text(double x, double y, std::string_view look, const std::string& text) {
    text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>", x, y, look,
                         html_escaped(text));
  }

  void add_cluster(std::size_t number) {
    const PictureCluster& cluster = picture_.clusters[number];
    const Box& box = layout_.clusters[number];
    text_ += fmt::format(
        "<rect class=\"cluster d{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:.1f}\" rx=\"9\"/>\n",
        cluster.depth % 2, box.left, box.top, box.width, box.height);
  }

  /// Titles stand above edges.
  void add_cluster_title(std::size_t number) {
    const Box& box = layout_.clusters[number];
    std::string title = cluster_title(picture_.clusters[number]);
    while (title.size() > 4 && text_width(title, kClusterLetters) > box.width - 14) {
      title = shortened(title, title.size() - 3);
    }
    add_text(box.left + 9, box.top + 15, "ct", title);
    text_ += '\n';
  }

  void add_edge(std::size_t number) {
    const PictureEdge& edge = picture_.edges[number];
    const std::vector<Place>& places = layout_.edges[number];
    std::string path = fmt::format("M{:.1f} {:.1f}", places[0].x, places[0].y);
    for (std::size_t i = 1; i < places.size(); ++i) {
      path += fmt::format("{}{:.1f} {:.1f}", i % 3 == 1 ? "C" : " ", places[i].x, places[i].y);
    }
    text_ += fmt::format(
        "<path class=\"edge{}\" data-e=\"{}\" d=\"{}\" stroke-width=\"{:.1f}\" "
        "marker-end=\"url(#{})\"/>\n",
        edge.crosses ? " crosses" : "", number, path, line_width(edge.bytes),
        edge.crosses ? "tip-crosses" : "tip");
  }

  /// Names what crosses once, however many cards it goes to, below the card that it comes from.
  void add_edge_text(std::size_t number) {
    const PictureEdge& edge = picture_.edges[number];
    const auto is_same = [&](const PictureEdge& other) {
      return other.crosses && other.from == edge.from && other.values == edge.values;
    };
    if (!edge.crosses || &*std::ranges::find_if(picture_.edges, is_same) != &edge) return;
    const Place begin = layout_.edges[number].front();
    const Box& card = layout_.nodes[edge.from];
    add_text(begin.x + 7, std::max(begin.y, card.top + card.height) + 13, "et",
             shortened(printable(edge.values), 42) + " · " + format_bytes(edge.bytes));
    text_ += '\n';
  }

  void add_card(std::size_t number) {
    const PictureNode& node = picture_.nodes[number];
    const Card card = card_of(node, heat_);
    const Box& box = layout_.nodes[number];
    const bool is_end =
        node.kind == PictureNode::Kind::kInput || node.kind == PictureNode::Kind::kOutput;
    const std::string colour = picture_.stages() > 1 ? fmt::format("s{}", node.stage % 10)
                                                     : fmt::format("f{}", family_of(node));
    text_ += fmt::format("<g class=\"card {}{}{}\" data-n=\"{}\">", colour, is_end ? " end" : "",
                         node.is_boundary ? " boundary" : "", number);
    const double round = card.is_pill ? std::min(box.height / 2, 12.0) : 5;
    std::string fill;
    if (heat_ != Heat::kNone && !is_end) {
      fill = fmt::format(" fill=\"{}\"", heat_colour(heat_share(heat_of(node, heat_), largest_)));
    }
    text_ += fmt::format(
        "<rect class=\"paper\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"{:.1f}\"{}/>",
        box.left, box.top, box.width, box.height, round, fill);
    if (!card.is_pill) {
      text_ += fmt::format(
          "<path class=\"stripe\" d=\"M{:.1f} {:.1f}a5 5 0 0 0 -5 5v{:.1f}a5 5 0 0 0 5 5z\"/>",
          box.left + kCardStripe, box.top, box.height - 10);
    }
    add_lines(card, box);
    text_ += "</g>\n";
  }

  void add_lines(const Card& card, const Box& box) {
    double y = box.top + (box.height - lines_height(card)) / 2;
    for (const CardLine& line : card.lines) {
      const double height = line_height(line.style);
      const double base = y + height * 0.74;
      double x = box.left + kCardPadding + (card.is_pill ? 4 : kCardStripe);
      if (card.is_pill && card.lines.size() == 1) {
        add_text(box.left + box.width / 2, base, "t mid", line.text);
      } else {
        if (line.mark) x += add_mark(*line.mark, x, base);
        add_text(x, base, class_of(line.style), line.text);
      }
      if (!line.right.empty()) {
        const bool heats = line.style == CardLine::Style::kTitle;
        add_text(box.left + box.width - kCardPadding, base,
                 heats ? "v end-right" : std::string(class_of(line.style)) + " end-right",
                 line.right);
      }
      y += height;
    }
  }

  static double lines_height(const Card& card) {
    double height = 0;
    for (const CardLine& line : card.lines) height += line_height(line.style);
    return height;
  }

  static std::string_view class_of(CardLine::Style style) {
    switch (style) {
      case CardLine::Style::kTitle:
        return "t";
      case CardLine::Style::kFaint:
        return "p";
      case CardLine::Style::kValue:
        return "v";
      case CardLine::Style::kWeight:
        break;
    }
    return "w";
  }

  /// Draws a mark, and returns the room that it takes.
  double add_mark(WeightRow::Kind kind, double x, double base) {
    constexpr double kRoom = 13;
    const double y = base - 3.6;
    if (kind == WeightRow::Kind::kBuffer) {
      text_ += fmt::format(
          "<rect class=\"mark hollow\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"6\" "
          "height=\"6\"/>",
          x + 1, y - 3);
    } else {
      text_ += fmt::format("<circle class=\"mark{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.2\"/>",
                           kind == WeightRow::Kind::kFrozen ? " hollow" : "", x + 4, y);
    }
    return kRoom;
  }

  const GraphPicture& picture_;
  const PictureLayout& layout_;
  Heat heat_;
  double largest_;
  std::string text_;
};

/// Draws title and legend above the scene, in rows as long as the drawing is wide.
class Head {
 public:
  Head(const GraphPicture& picture, Heat heat, double width)
      : picture_(picture), heat_(heat), width_(width) {
    for (std::size_t i = 0; picture.stages() > 1 && i < picture.stages(); ++i) {
      const auto& cuts = picture.options.cuts;
      std::string name = i < cuts.size() ? "before " + cuts[i].name : "behind " + cuts[i - 1].name;
      add_chip(schedule::strong_colour(i), printable(name));
    }
    if (picture.stages() > 1) {
      add_line(kBoundaryColour, "crosses the cut");
    } else {
      add_families();
    }
    if (heat != Heat::kNone) add_ramp();
    add_mark("<circle cx=\"{0}\" cy=\"{1}\" r=\"3.4\" class=\"mark\"/>", "trainable");
    add_mark("<circle cx=\"{0}\" cy=\"{1}\" r=\"3.4\" class=\"mark hollow\"/>", "frozen");
    add_mark("<rect x=\"{2}\" y=\"{3}\" width=\"6\" height=\"6\" class=\"mark hollow\"/>",
             "buffer");
  }

  double height() const { return kHeadHeight + y_ + kLegendRow; }

  std::string draw() const {
    double flops = 0;
    std::int64_t parameters = 0;
    for (const PictureNode& node : picture_.nodes) {
      flops += node.flops;
      parameters += node.parameters();
    }
    return fmt::format(
               "<text x=\"{0:g}\" y=\"34\" class=\"title\">{1}</text>"
               "<text x=\"{0:g}\" y=\"55\" class=\"subtitle\">{2}</text>\n",
               kMargin, html_escaped(shortened(printable(picture_.model), 60)),
               fmt::format("{} · batch {} · {} parameters · {} FLOPs",
                           counted(picture_.operators, "operator"), picture_.options.batch,
                           short_count(static_cast<double>(parameters)), short_count(flops))) +
           fmt::format("<g transform=\"translate({:g} {:g})\">", kMargin, kHeadHeight - 4) + text_ +
           "</g>\n";
  }

 private:
  void place(double width) {
    if (x_ > 0 && x_ + width > width_ - 2 * kMargin) {
      x_ = 0;
      y_ += kLegendRow;
    }
  }
  void add_text(double offset, const std::string& text) {
    text_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"lg\">{}</text>", x_ + offset,
                         y_ + 10, html_escaped(text));
    x_ += offset + text_width(text, kMostLetters) + 18;
  }
  void add_chip(std::string_view colour, const std::string& text) {
    place(17 + text_width(text, kMostLetters));
    text_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"11\" height=\"11\" rx=\"3\" "
        "fill=\"{}\"/>",
        x_, y_, colour);
    add_text(17, text);
  }
  void add_line(std::string_view colour, const std::string& text) {
    place(26 + text_width(text, kMostLetters));
    text_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"20\" height=\"3\" fill=\"{}\"/>",
                         x_, y_ + 5, colour);
    add_text(26, text);
  }
  void add_mark(fmt::format_string<double, double, double, double> shape, const std::string& text) {
    place(14 + text_width(text, kMostLetters));
    text_ += fmt::format(shape, x_ + 4, y_ + 6, x_ + 1, y_ + 3);
    add_text(14, text);
  }
  void add_families() {
    for (const int family : families_in(picture_)) {
      add_chip(family_colour(family), std::string(family_name(family)));
    }
  }
  /// Draws the colours of the heat, from nothing to the largest figure.
  void add_ramp() {
    const std::string text = heat_title(heat_, picture_.options) + ", up to " +
                             heat_text(heat_, largest_heat(picture_, heat_));
    constexpr int kSteps = 12;
    constexpr double kStep = 6;
    place(kSteps * kStep + 6 + text_width(text, kMostLetters));
    for (int i = 0; i < kSteps; ++i) {
      text_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:g}\" height=\"11\" "
          "fill=\"{}\"/>",
          x_ + i * kStep, y_, kStep + 0.5, heat_colour(static_cast<double>(i) / (kSteps - 1)));
    }
    add_text(kSteps * kStep + 6, printable(text));
  }

  const GraphPicture& picture_;
  Heat heat_;
  double width_;
  double x_ = 0;
  double y_ = 0;
  std::string text_;
};

/// Returns the style sheet of a picture of its own.
std::string picture_style(const GraphPicture& picture) {
  std::string style =
      "text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu Sans\",sans-serif;"
      "fill:#182030}"
      ".title{font-size:22px;font-weight:650}.subtitle{font-size:13px;fill:#647084}"
      ".lg{font-size:12px}.t{font-size:13px;font-weight:650}.v{font-size:11.5px}"
      ".p,.w{font-size:10.5px;fill:#647084}.w{fill:#3c4656}.ct{font-size:11px;fill:#4a566a;"
      "font-weight:600;stroke:#eef1f5;stroke-width:3px;paint-order:stroke}.et{font-size:11.5px;"
      "font-weight:600;fill:#c2362b;stroke:#fff;"
      "stroke-width:3.5px;paint-order:stroke}.mid{text-anchor:middle}"
      ".end-right{text-anchor:end}"
      ".cluster{fill:#f4f6f9;stroke:#c9d1db}.cluster.d1{fill:#e9edf3}"
      ".edge{fill:none;stroke:#8a94a3}.edge.crosses{stroke:#c2362b}"
      ".card .paper{stroke:#b3bcc8}.paper:not([fill]){fill:#fff}"
      ".end .paper:not([fill]){fill:#e7ecf3}.boundary .paper{stroke:#c2362b;stroke-width:2}"
      ".mark{fill:#12866b;stroke:#12866b;stroke-width:1.2}.mark.hollow{fill:none}"
      "circle.mark.hollow{stroke:#647084}rect.mark{stroke:#8a94a3}.stripe{fill:#8a94a3}";
  for (int i = 0; i < kFamilies; ++i) {
    style += fmt::format(".f{} .stripe{{fill:{}}}", i, family_colour(i));
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(picture.stages(), 10); ++i) {
    style += fmt::format(".s{0} .stripe{{fill:{1}}}.s{0} .paper:not([fill]){{fill:{2}}}", i,
                         schedule::strong_colour(i), schedule::pale_colour(i));
  }
  return style;
}

}  // namespace

std::string svg_scene(const GraphPicture& picture, const PictureLayout& layout, Heat heat) {
  return Scene(picture, layout, heat).draw();
}

std::string picture_svg(const GraphPicture& picture, const PictureLayout& layout, Heat heat) {
  const double width = std::max(layout.width + 2 * kMargin, kNarrowestDrawing);
  const Head head(picture, heat, width);
  const double height = layout.height + head.height() + kMargin;
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\">\n<title>{2}</title>\n"
      "<style>{3}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      width, height, html_escaped(printable(picture.model)), picture_style(picture));
  for (const auto& [id, colour] : {std::pair<std::string_view, std::string_view>{"tip", "#8a94a3"},
                                   {"tip-crosses", kBoundaryColour}}) {
    text += fmt::format(
        "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" "
        "markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
        "<path d=\"M0 1L8 4 0 7z\" fill=\"{}\"/></marker>\n",
        id, colour);
  }
  text += head.draw();
  text += fmt::format("<g transform=\"translate({:.1f} {:.1f})\">\n", (width - layout.width) / 2,
                      head.height());
  return text + svg_scene(picture, layout, heat) + "</g>\n</svg>\n";
}

}  // namespace pareto::report::graph
