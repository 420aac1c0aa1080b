// The picture in the language of Graphviz: for people, and for the layout of our own drawing.
#include <vector>

#include "client/report/graph/picture_writer.h"
#include "client/report/html_text.h"
#include "client/report/schedule/schedule_colours.h"
#include "client/report/short_count.h"
#include "core/base/counted.h"
#include "core/base/printable.h"
#include "core/base/text.h"

namespace pareto::report::graph {
namespace {

constexpr double kPointsPerInch = 72;
constexpr int kLetters = 11;
/// Our letters are wider than those that Graphviz knows.
constexpr int kRoomyLetters = 14;
constexpr std::size_t kMany = 400;

/// Returns a text inside a label of Graphviz' HTML.
std::string in_label(const std::string& text) {
  return replaced(html_escaped(printable(text)), ">", "&gt;");
}

/// An empty font is an error of Graphviz.
std::string in_font(const std::string& label, double letter) {
  if (label.empty()) return "";
  return fmt::format("<font point-size=\"{:g}\">{}</font>", letter, label);
}

std::string_view mark_of(WeightRow::Kind kind) {
  switch (kind) {
    case WeightRow::Kind::kTrainable:
      return "●";
    case WeightRow::Kind::kFrozen:
      return "○";
    case WeightRow::Kind::kBuffer:
      break;
  }
  return "□";
}

/// Returns a card as a table: what is on the left of each line, and what is on the right.
std::string label_of(const Card& card) {
  std::string rows;
  for (const CardLine& line : card.lines) {
    std::string left = in_label(line.text);
    if (line.mark) left = std::string(mark_of(*line.mark)) + " " + left;
    if (line.style == CardLine::Style::kTitle) left = "<b>" + left + "</b>";
    const double letter = letter_height(line.style);
    rows += fmt::format("<tr><td align=\"left\">{}</td><td align=\"right\">{}</td></tr>",
                        in_font(left, letter), in_font(in_label(line.right), letter));
  }
  return "<<table border=\"0\" cellspacing=\"0\" cellpadding=\"1\">" + rows + "</table>>";
}

/// Writes cards and clusters, each inside the cluster around it.
class DotText {
 public:
  DotText(const GraphPicture& picture, Heat heat, bool for_layout)
      : picture_(picture), heat_(heat), for_layout_(for_layout) {
    cards_in_.resize(picture.clusters.size() + 1);
    clusters_in_.resize(picture.clusters.size() + 1);
    for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
      cards_in_[picture.nodes[i].cluster].push_back(i);
    }
    for (std::size_t i = 0; i < picture.clusters.size(); ++i) {
      clusters_in_[picture.clusters[i].parent].push_back(i + 1);
    }
  }

  std::string text() {
    text_ =
        "digraph model {\n"
        "  graph [ranksep=0.34, nodesep=0.22, fontname=\"sans-serif\", fontsize=11];\n"
        "  node [shape=box, fontname=\"sans-serif\"];\n"
        "  edge [arrowsize=0.6, color=\"#8a94a3\", fontname=\"sans-serif\", fontsize=10];\n";
    // Limits of the searches for a good order, or large models take minutes.
    if (picture_.nodes.size() > kMany) text_ += "  graph [nslimit=2, nslimit1=2, mclimit=0.5];\n";
    if (!for_layout_) {
      text_ += fmt::format("  label=<<b>{}</b>>; labelloc=t;\n", in_label(picture_.model));
      text_ += "  node [style=\"filled,rounded\", fillcolor=white, color=\"#b3bcc8\"];\n";
    }
    add_inside(0);
    for (std::size_t i = 0; i < picture_.edges.size(); ++i) add_edge(i);
    return text_ + "}\n";
  }

 private:
  void add_inside(std::size_t cluster) {
    for (const std::size_t node : cards_in_[cluster]) add_card(node);
    for (const std::size_t inner : clusters_in_[cluster]) {
      const PictureCluster& one = picture_.clusters[inner - 1];
      text_ += fmt::format("subgraph cluster_{} {{\n", inner);
      // Of the layout only the room for the title is used.
      text_ += fmt::format("label=<{}>; labeljust=l; fontsize={};", in_label(cluster_title(one)),
                           for_layout_ ? kRoomyLetters : kLetters);
      if (!for_layout_) {
        text_ += fmt::format(" style=\"filled,rounded\"; color=\"#c9d1db\"; fillcolor=\"{}\";",
                             one.depth % 2 == 0 ? "#f4f6f9" : "#e9edf3");
      }
      text_ += '\n';
      add_inside(inner);
      text_ += "}\n";
    }
  }

  void add_card(std::size_t number) {
    const PictureNode& node = picture_.nodes[number];
    const Card card = card_of(node, heat_);
    if (for_layout_) {
      text_ += fmt::format("n{} [fixedsize=true, label=\"\", width={:.3f}, height={:.3f}];\n",
                           number, card.width / kPointsPerInch, card.height / kPointsPerInch);
      return;
    }
    std::string look;
    if (picture_.stages() > 1) {
      look = fmt::format(", color=\"{}\", fillcolor=\"{}\"", schedule::strong_colour(node.stage),
                         schedule::pale_colour(node.stage));
    }
    if (node.is_boundary) look += ", penwidth=2.5";
    text_ += fmt::format("n{} [label={}{}];\n", number, label_of(card), look);
  }

  void add_edge(std::size_t number) {
    const PictureEdge& edge = picture_.edges[number];
    std::string look;
    if (for_layout_) {
      look = fmt::format(" [id={}]", number);
    } else if (edge.crosses) {
      look = fmt::format(" [color=\"{}\", penwidth=2.5, label=<{}>]", kBoundaryColour,
                         in_label(edge.values + ", " + format_bytes(edge.bytes)));
    }
    text_ += fmt::format("n{} -> n{}{};\n", edge.from, edge.to, look);
  }

  const GraphPicture& picture_;
  Heat heat_;
  bool for_layout_;
  std::vector<std::vector<std::size_t>> cards_in_;
  std::vector<std::vector<std::size_t>> clusters_in_;
  std::string text_;
};

}  // namespace

std::string cluster_title(const PictureCluster& cluster) {
  std::string title = shortened(printable(cluster.title), 60);
  if (cluster.parameters > 0) {
    title += " · " + short_count(static_cast<double>(cluster.parameters)) + " parameters";
  }
  if (cluster.flops > 0) title += " · " + short_count(cluster.flops) + " FLOPs";
  return title;
}

std::string picture_dot(const GraphPicture& picture, Heat heat) {
  return DotText(picture, heat, false).text();
}

std::string layout_dot(const GraphPicture& picture, Heat heat) {
  return DotText(picture, heat, true).text();
}

}  // namespace pareto::report::graph
